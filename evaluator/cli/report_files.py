"""The parts of a report that are too large to print, as files."""

import csv
import json
from pathlib import Path

from evaluator.cli.output import whole_file
from evaluator.report import Report


def write_curves(report: Report, *, to: Path) -> None:
    """Write the precision/recall curves of every split as one JSON object."""
    answer = {"track": report.track, "signature": report.signature, "splits": report.curves}
    with whole_file(to) as file:
        json.dump(answer, file, allow_nan=False)
        file.write("\n")


def write_matches(report: Report, *, to: Path) -> None:
    """Write what became of each prediction, and each object that was missed, one a line."""
    with whole_file(to) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(report.matches.columns)
        rows.writerows(report.matches.rows())
