"""Prometheus metrics that the processes of the service record.

The supervisor sets PROMETHEUS_MULTIPROC_DIR to a folder in which processes store their values, so that the values of
several processes can be added up. `server/runtime/measurements.py` adds values that are read from the database and the
broker.
"""

import os
from pathlib import Path

from prometheus_client import Counter, Histogram

# enough for about 7,000 values, which is more than all routes, methods and buckets need
FILE_BYTES = 2**20


def reserve_files() -> None:
    """Reserve disk space for the files in which this process stores its values. Raises OSError if there is none.

    prometheus-client maps these files into memory and does not reserve space for them. If the disk is full when a
    process writes to a page for the first time, the kernel kills the process (SIGBUS).
    """
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        for kind in ("counter", "histogram"):
            with Path(folder, f"{kind}_{os.getpid()}.db").open("ab") as file:
                os.posix_fallocate(file.fileno(), 0, FILE_BYTES)


reserve_files()
os.register_at_fork(after_in_child=reserve_files)

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SCORING_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 7200.0)

request_seconds = Histogram(
    "podium_request_seconds", "Time taken to produce a response", ["method", "route"], buckets=SECONDS
)
responses = Counter("podium_responses", "Responses by HTTP status", ["status"])
refusals = Counter("podium_refusals", "Rejected requests by error code", ["code"])
stage_seconds = Histogram(
    "podium_stage_seconds",
    "Duration of a stage: waiting in the queue, scoring, or a rerun for intervals or an explanation",
    ["stage"],
    buckets=SCORING_SECONDS,
)
storage_errors = Counter("podium_storage_errors", "Jobs that were postponed because a stored file could not be used")
truth_copies = Counter(
    "podium_truth_copies", "Events in a worker's ground truth cache: found, downloaded or removed", ["event"]
)
restored_truths = Counter("podium_restored_truths", "Prepared ground truths that had to be prepared again")
