"""Settings that limit files, scorings and processes. They are part of `server.settings` and read from there."""

import os

from server.runtime.environment import env

# Limits of a submission, told before the first byte
DATA_UPLOAD_MAX_MEMORY_SIZE = 2**20  # of a form without a file, and of any body where no file is taken
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", default=2 * 2**30)
ACCOUNT_MAX_UPLOADS = env.int("ACCOUNT_MAX_UPLOADS", default=8)  # of more than 1 MiB, on their way at the same time
ADDRESS_MAX_CONNECTIONS = env.int("ADDRESS_MAX_CONNECTIONS", default=1200)  # of a web process, and at most 3 in 5
DECOMPRESSED_MAX_BYTES = env.int("DECOMPRESSED_MAX_BYTES", default=8 * 2**30)
DECOMPRESSED_MAX_RATIO = env.int("DECOMPRESSED_MAX_RATIO", default=200)
LINE_MAX_BYTES = env.int("LINE_MAX_BYTES", default=64 * 2**20)
JSON_MAX_BYTES = env.int("JSON_MAX_BYTES", default=256 * 2**20)  # read whole, at ten times its size in memory
NUMBER_MAX_CHARACTERS = env.int("NUMBER_MAX_CHARACTERS", default=64)
TEXT_MAX_CHARACTERS = env.int("TEXT_MAX_CHARACTERS", default=256)
SUBMISSION_MAX_BOXES = env.int("SUBMISSION_MAX_BOXES", default=50_000_000)
SUBMISSION_MAX_IMAGES = env.int("SUBMISSION_MAX_IMAGES", default=2_000_000)

# How long files are kept, and how many
TEAM_STORAGE_BYTES = env.int("TEAM_STORAGE_BYTES", default=20 * 2**30)  # of a team in its challenge
UNSCORED_FILE_DAYS = env.int("UNSCORED_FILE_DAYS", default=7)  # rejected, failed or cancelled; the row stays
QUARANTINE_DAYS = env.int("QUARANTINE_DAYS", default=30)  # of files that no row knows

# Scoring
LEASE_SECONDS = env.int("LEASE_SECONDS", default=60)
HEARTBEAT_SECONDS = env.int("HEARTBEAT_SECONDS", default=15)
SWEEP_SECONDS = env.int("SWEEP_SECONDS", default=5)
RESEND_SECONDS = env.int("RESEND_SECONDS", default=30)
EVALUATION_ATTEMPTS = env.int("EVALUATION_ATTEMPTS", default=3)
EVALUATION_SECONDS = env.int("EVALUATION_SECONDS", default=1800)  # of CPU time; beyond it the file is at fault
# By the clock; only what hangs takes so long, and that is the platform's fault
EVALUATION_WALL_SECONDS = env.int("EVALUATION_WALL_SECONDS", default=4 * EVALUATION_SECONDS)
# A file is small up to these bytes, unpacked, until a scoring of it has taken these CPU seconds
SMALL_FILE_MAX_BYTES = env.int("SMALL_FILE_MAX_BYTES", default=2**20)
SMALL_FILE_CPU_SECONDS = env.int("SMALL_FILE_CPU_SECONDS", default=5)
INTERVAL_REPLICATES = env.int("INTERVAL_REPLICATES", default=1000)  # 0: no intervals
EXPLANATION_MAX_BYTES = env.int("EXPLANATION_MAX_BYTES", default=256 * 2**20)  # decompressed; 0: no explanations
WORKER_MEMORY_BYTES = env.int("WORKER_MEMORY_BYTES", default=6 * 2**30)  # what one scoring may add to its process
WORKER_PROCESSES = env.int("WORKER_PROCESSES", default=os.cpu_count() or 1)
# Below WORKER_PROCESSES where that is 2 or more, so that one team never holds every process
TEAM_EVALUATIONS_AT_ONCE = env.int("TEAM_EVALUATIONS_AT_ONCE", default=max(1, min(2, WORKER_PROCESSES - 1)))
# Large files that one worker scores at once; 0: it takes small ones only
WORKER_LARGE_FILES_AT_ONCE = env.int("WORKER_LARGE_FILES_AT_ONCE", default=max(1, WORKER_PROCESSES - 1))
STOP_SECONDS = env.int("STOP_SECONDS", default=20)  # what a running scoring gets to finish when the worker is stopped
WEB_PROCESSES = env.int("WEB_PROCESSES", default=2)
WEB_THREADS = env.int("WEB_THREADS", default=8)
