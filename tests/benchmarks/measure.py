"""Scores one file several times, and prints the lowest time and the peak memory of this process as JSON.

Usage: `measure.py TRACK TRUTH FILE THREADS TIMES REPLICATES PARAMETERS [DRAWS]`. PARAMETERS is JSON. DRAWS is a folder
in which the bootstrap weights are stored.
"""

import json
import sys
from pathlib import Path
from time import perf_counter, process_time

from evaluator.request import Bootstrap, ReportOptions, Resources, ScoringRequest
from evaluator.scoring import load_kernels, score


def main(
    track: str, truth: str, file: str, threads: str, times: str, replicates: str, parameters: str, draws: str = ""
) -> None:
    load_kernels()
    request = ScoringRequest(
        track,
        Path(truth),
        Path(file),
        parameters=json.loads(parameters),
        report=ReportOptions(bootstrap=drawing(int(replicates), draws)),
        resources=Resources(threads=int(threads)),
    )
    cpu, wall, way = [], [], ""
    for _ in range(int(times)):
        cpu_before, before = process_time(), perf_counter()
        way = score(request).way
        cpu.append(process_time() - cpu_before)
        wall.append(perf_counter() - before)
    print(json.dumps({"cpu": min(cpu), "wall": min(wall), "rss": peak(), "way": way}))


def drawing(replicates: int, draws: str) -> Bootstrap | None:
    """Return the bootstrap options, or None if the number of replicates is 0."""
    return Bootstrap(replicates, draws=Path(draws) if draws else None) if replicates else None


def peak() -> int:
    """Return the peak memory of this process in bytes, as reported by /proc.

    The value of getrusage would include the memory that the parent process used before it was forked.
    """
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(*sys.argv[1:])
