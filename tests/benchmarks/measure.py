"""Scores one file several times, and prints the lowest time and the peak memory of this process as JSON.

Usage: `measure.py TRACK TRUTH FILE OPTIONS`. OPTIONS is JSON with the fields of `Options`.

`measure.py TRACK TRUTH FILE OPTIONS OTHER` alternately scores the file against two ground truths. It prints the median
of the quotients of two successive CPU times. Most of what makes one process slower than the next, such as its place in
memory, affects both times.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from evaluator.explanation import explanation
from evaluator.report import Report
from evaluator.request import Bootstrap, ReportOptions, Resources, ScoringRequest
from evaluator.scoring import load_kernels, score

LEAST_ROUNDS, MOST_ROUNDS, ENOUGH_SECONDS = 11, 101, 20.0


@dataclass(frozen=True)
class Options:
    """How a file is scored, and how often.

    `replicates` is the number of bootstrap replicates, or 0 for none. `draws` is a folder in which the bootstrap
    weights are stored. If `explained` is true, the score is also explained, as the service does for its report pages.
    """

    threads: int = 1
    times: int = 3
    replicates: int = 0
    draws: str = ""
    explained: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def report(self) -> ReportOptions:
        folder = Path(self.draws) if self.draws else None
        bootstrap = Bootstrap(self.replicates, draws=folder) if self.replicates else None
        return ReportOptions(curves=self.explained, explanation=self.explained, bootstrap=bootstrap)


def main(track: str, truth: str, file: str, text: str, other: str = "") -> None:
    options = Options(**json.loads(text))
    load_kernels()
    request = ScoringRequest(
        track,
        Path(truth),
        Path(file),
        parameters=options.parameters,
        report=options.report,
        resources=Resources(threads=options.threads),
    )
    if other:
        print(json.dumps(compared(request, replace(request, truth=Path(other)), explained=options.explained)))
        return
    cpu, wall, way = [], [], ""
    for _ in range(options.times):
        cpu_before, before = process_time(), perf_counter()
        way = made(request, explained=options.explained).way
        cpu.append(process_time() - cpu_before)
        wall.append(perf_counter() - before)
    print(json.dumps({"cpu": min(cpu), "wall": min(wall), "rss": peak(), "way": way}))


def compared(one: ScoringRequest, other: ScoringRequest, *, explained: bool) -> float:
    """Return the CPU time of one request, divided by that of another. Short requests are made more often."""
    quotients: list[float] = []
    began = process_time()
    while len(quotients) < LEAST_ROUNDS or (len(quotients) < MOST_ROUNDS and process_time() - began < ENOUGH_SECONDS):
        cpu = {}
        for request in (one, other) if len(quotients) % 2 else (other, one):
            before = process_time()
            made(request, explained=explained)
            cpu[request.truth] = process_time() - before
        quotients.append(cpu[one.truth] / cpu[other.truth])
    return median(quotients)


def made(request: ScoringRequest, *, explained: bool) -> Report:
    """Return the report on a file. If `explained` is true, also build the explanation of each split."""
    report = score(request)
    for split in report.splits if explained else ():
        explanation(report, split)
    return report


def peak() -> int:
    """Return the peak memory of this process in bytes, as reported by /proc.

    The value of getrusage would include the memory that the parent process used before it was forked.
    """
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(*sys.argv[1:])
