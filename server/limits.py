"""Settings that limit files, scoring and processes. Read them from `django.conf.settings`."""

import os

from server.runtime.environment import env

MAX_BYTES = 2**50
MAX_DAYS = 36_500
MAX_SECONDS = 30 * 24 * 3600

DATA_UPLOAD_MAX_MEMORY_SIZE = 2**20  # maximum size of a request without a file, such as a form
UPLOAD_MAX_BYTES = env.number("UPLOAD_MAX_BYTES", default=2 * 2**30, high=MAX_BYTES)
# Maximum number of simultaneous uploads of more than 1 MiB by one account
ACCOUNT_MAX_UPLOADS = env.number("ACCOUNT_MAX_UPLOADS", default=8, high=127)
# Maximum number of connections from one address to a web process. The effective limit never exceeds three fifths of the
# connections that the process can have.
ADDRESS_MAX_CONNECTIONS = env.number("ADDRESS_MAX_CONNECTIONS", default=1200, high=1_000_000)
DECOMPRESSED_MAX_BYTES = env.number("DECOMPRESSED_MAX_BYTES", default=8 * 2**30, high=MAX_BYTES)
DECOMPRESSED_MAX_RATIO = env.number("DECOMPRESSED_MAX_RATIO", default=200, high=1_000_000)
LINE_MAX_BYTES = env.number("LINE_MAX_BYTES", default=64 * 2**20, low=1024, high=MAX_BYTES)
# JSON files have a lower limit, because they are loaded as a whole and need ten times their size in memory
JSON_MAX_BYTES = env.number("JSON_MAX_BYTES", default=256 * 2**20, low=1024, high=MAX_BYTES)
NUMBER_MAX_CHARACTERS = env.number("NUMBER_MAX_CHARACTERS", default=64, low=8, high=4096)
TEXT_MAX_CHARACTERS = env.number("TEXT_MAX_CHARACTERS", default=256, low=8, high=65536)
SUBMISSION_MAX_BOXES = env.number("SUBMISSION_MAX_BOXES", default=50_000_000, high=2**31 - 1)
SUBMISSION_MAX_IMAGES = env.number("SUBMISSION_MAX_IMAGES", default=2_000_000, high=2**31 - 1)

# Maximum number of bytes that the files of one team in one challenge may use
TEAM_STORAGE_BYTES = env.number("TEAM_STORAGE_BYTES", default=20 * 2**30, high=MAX_BYTES)
# Days after which the files of rejected, failed and cancelled submissions are removed; their database rows are kept
UNSCORED_FILE_DAYS = env.number("UNSCORED_FILE_DAYS", default=7, high=MAX_DAYS)
# When the private scores of a phase have been shown for this number of days, the files of scored submissions that
# affect no leaderboard are removed. If it is 0, no file is removed.
SCORED_FILE_DAYS = env.number("SCORED_FILE_DAYS", default=0, low=0, high=MAX_DAYS)
# Days for which files without a database row are kept in quarantine before they are removed
QUARANTINE_DAYS = env.number("QUARANTINE_DAYS", default=30, high=MAX_DAYS)

# Maximum total size in bytes of the copies of ground truths that a worker keeps if the files are in an object store
TRUTH_CACHE_BYTES = env.number("TRUTH_CACHE_BYTES", default=20 * 2**30, high=MAX_BYTES)

LEASE_SECONDS = env.number("LEASE_SECONDS", default=60, low=2, high=MAX_SECONDS)
HEARTBEAT_SECONDS = env.number("HEARTBEAT_SECONDS", default=max(1, LEASE_SECONDS // 4), high=LEASE_SECONDS - 1)
SWEEP_SECONDS = env.number("SWEEP_SECONDS", default=5, high=MAX_SECONDS)
RESEND_SECONDS = env.number("RESEND_SECONDS", default=30, high=MAX_SECONDS)
EVALUATION_ATTEMPTS = env.number("EVALUATION_ATTEMPTS", default=3, high=100)
# Maximum CPU time for scoring a submission. A submission that needs more fails, and counts against the quota.
EVALUATION_SECONDS = env.number("EVALUATION_SECONDS", default=1800, high=MAX_SECONDS)
# Maximum elapsed time for scoring a submission. After this time, scoring is assumed to hang, which is not the
# participant's fault.
EVALUATION_WALL_SECONDS = env.number(
    "EVALUATION_WALL_SECONDS", default=4 * EVALUATION_SECONDS, low=EVALUATION_SECONDS, high=4 * MAX_SECONDS
)
# Maximum elapsed time for the gate, which checks a new ground truth by scoring several files
GATE_WALL_SECONDS = env.number(
    "GATE_WALL_SECONDS", default=4 * EVALUATION_WALL_SECONDS, low=EVALUATION_SECONDS, high=16 * MAX_SECONDS
)
# Maximum decompressed size of a small file, and maximum CPU time for scoring it. A file that exceeds one of these
# limits counts as large.
SMALL_FILE_MAX_BYTES = env.number("SMALL_FILE_MAX_BYTES", default=2**20, low=0, high=MAX_BYTES)
SMALL_FILE_CPU_SECONDS = env.number("SMALL_FILE_CPU_SECONDS", default=5, low=0, high=MAX_SECONDS)
# Number of bootstrap replicates for each confidence interval. If it is 0, no intervals are computed.
INTERVAL_REPLICATES = env.number("INTERVAL_REPLICATES", default=1000, low=0, high=100_000)
# Maximum decompressed size of a file that the fast path cannot read, if its score is explained (for example by kinds of
# errors) with the slower reference implementation. If it is 0, no explanations are computed.
EXPLANATION_MAX_BYTES = env.number("EXPLANATION_MAX_BYTES", default=256 * 2**20, low=0, high=MAX_BYTES)
# Maximum memory by which a process may grow while it scores a submission. Even the smallest submission needs 64 MiB.
WORKER_MEMORY_BYTES = env.number("WORKER_MEMORY_BYTES", default=6 * 2**30, low=64 * 2**20, high=MAX_BYTES)
WORKER_PROCESSES = env.number("WORKER_PROCESSES", default=os.cpu_count() or 1, high=1024)
# Maximum number of submissions of one team that are scored at the same time. The default is less than WORKER_PROCESSES
# (unless that is 1), so that one team never occupies every process.
TEAM_EVALUATIONS_AT_ONCE = env.number(
    "TEAM_EVALUATIONS_AT_ONCE", default=max(1, min(2, WORKER_PROCESSES - 1)), high=10_000
)
# Maximum number of large files that one worker scores at the same time. If it is 0, the worker scores only small files.
WORKER_LARGE_FILES_AT_ONCE = env.number(
    "WORKER_LARGE_FILES_AT_ONCE", default=max(1, WORKER_PROCESSES - 1), low=0, high=1024
)
# The kinds of jobs that a worker takes: scores, check kits (files for checking submissions offline), comparisons of
# leaderboard entries, and reruns (intervals, rescorings and explanations)
WORKER_QUEUES = env.subset("WORKER_QUEUES", among=("scores", "kits", "comparisons", "reruns"))
# The broker's queue for each kind of job. The queue for scores has the name of the only queue of earlier versions, so
# that processes of both versions can run side by side.
BROKER_QUEUES = {"scores": "celery", "kits": "kits", "comparisons": "comparisons", "reruns": "reruns"}
# How long a running scoring job may take to finish when the worker is stopped
STOP_SECONDS = env.number("STOP_SECONDS", default=20, low=0, high=MAX_SECONDS)
WEB_PROCESSES = env.number("WEB_PROCESSES", default=2, high=1024)
WEB_THREADS = env.number("WEB_THREADS", default=8, high=1024)

# Maximum number of invitations by username, requests to join and proposed merges of teams that a user can send, or
# receive, per day
INVITATIONS_PER_DAY = env.number("INVITATIONS_PER_DAY", default=20, high=1_000_000)

API_REQUESTS_PER_MINUTE = env.number("API_REQUESTS_PER_MINUTE", default=1200, high=1_000_000)
API_ANONYMOUS_REQUESTS_PER_MINUTE = env.number("API_ANONYMOUS_REQUESTS_PER_MINUTE", default=600, high=1_000_000)
API_TOKEN_DAYS = env.number("API_TOKEN_DAYS", default=365, high=MAX_DAYS)
