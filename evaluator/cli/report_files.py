"""Writes the parts of a report that are too large to print: precision/recall curves and outcomes of predictions."""

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
    """Write a CSV file with one row for each prediction and its outcome, and one row for each missed object."""
    with atomic_file(to) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(report.matches.columns)
        rows.writerows(report.matches.rows())
