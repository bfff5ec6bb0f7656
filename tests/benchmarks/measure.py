"""Scores one file several times, and prints the lowest time and the peak memory of this process as JSON.

Usage: `measure.py TRACK TRUTH FILE OPTIONS`. OPTIONS is JSON with the fields of `Options`.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from evaluator.explanation import explanation
from evaluator.report import Report
from evaluator.request import Bootstrap, ReportOptions, Resources, ScoringRequest
from evaluator.scoring import load_kernels, score


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


def main(track: str, truth: str, file: str, text: str) -> None:
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
    cpu, wall, way = [], [], ""
    for _ in range(options.times):
        cpu_before, before = process_time(), perf_counter()
        way = made(request, explained=options.explained).way
        cpu.append(process_time() - cpu_before)
        wall.append(perf_counter() - before)
    print(json.dumps({"cpu": min(cpu), "wall": min(wall), "rss": peak(), "way": way}))


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
