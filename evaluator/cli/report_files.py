"""Writes files with those parts of a report that are too large to print."""

import csv
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


def write_matches(report: Report, *, to: Path) -> None:
    """Write one CSV row for the outcome of each prediction, and for each object that was missed."""
    with atomic_file(to) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(report.matches.columns)
        rows.writerows(report.matches.rows())
