"""Prometheus metrics that the processes of the service record.

The supervisor sets PROMETHEUS_MULTIPROC_DIR to a folder in which processes store their values, so that the values of
several processes can be added up. `server/runtime/measurements.py` adds values that are read from the database and the
broker.
"""

import os
from errno import EDQUOT, ENOSPC
from pathlib import Path
from tempfile import mkdtemp

from prometheus_client import Counter, Histogram

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# Bytes to reserve for one process, by type of metric. They are enough for all routes, methods and buckets.
RESERVED_BYTES = {"counter": 2**17, "histogram": 2**19}
MEMORY = Path("/dev/shm")


def reserve_files() -> None:
    """Reserve disk space for the files in which this process stores its values.

    prometheus-client maps these files into memory and does not reserve space for them. If the disk is full when a
    process writes to a page for the first time, the kernel kills the process (SIGBUS). If the disk is full already, the
    process stores its values in memory instead, and /metrics does not include them.
    """
    for kind, size in RESERVED_BYTES.items() if FOLDER in os.environ else ():
        path = Path(os.environ[FOLDER], f"{kind}_{os.getpid()}.db")
        try:
            reserve(path, size)
        except OSError as error:
            path.unlink(missing_ok=True)
            # Any other error means that the file system cannot reserve space, so the process continues without it.
            if error.errno in (ENOSPC, EDQUOT) and MEMORY.is_dir():
                os.environ[FOLDER] = mkdtemp(prefix="podium-metrics-", dir=MEMORY)


def reserve(path: Path, size: int) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
    finally:
        os.close(descriptor)


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
file_sweep_errors = Counter("podium_file_sweep_errors", "Times that the sweeper could not check the stored files")
truth_copies = Counter(
    "podium_truth_copies", "Events in a worker's ground truth cache: found, downloaded or removed", ["event"]
)
restored_truths = Counter("podium_restored_truths", "Prepared ground truths that had to be prepared again")
