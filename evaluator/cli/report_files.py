"""Writes the precision/recall curves of a report, which are too large to print."""

import json
from pathlib import Path

from evaluator.cli.output import atomic_file
from evaluator.report import Report


def write_curves(report: Report, *, to: Path) -> None:
    """Write the precision/recall curves of every split as one JSON object."""
    answer = {"track": report.track, "signature": report.signature, "splits": report.curves}
    with atomic_file(to) as file:
        json.dump(answer, file, allow_nan=False)
        file.write("\n")
