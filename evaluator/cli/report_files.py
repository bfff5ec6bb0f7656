"""Writes a report to files: its precision/recall curves, which are too large to print, and an HTML page."""

import json
from pathlib import Path

from evaluator.catalog import TRACKS
from evaluator.cli.output import atomic_file
from evaluator.explanation import explanation
from evaluator.report import Report
from evaluator.report_page.content import SplitDetail
from evaluator.report_page.page import SplitScores, report_page


def write_curves(report: Report, *, to: Path) -> None:
    """Write the precision/recall curves of every split as one JSON object."""
    answer = {"track": report.track, "signature": report.signature, "splits": report.curves}
    with atomic_file(to) as file:
        json.dump(answer, file, allow_nan=False)
        file.write("\n")


def write_report_page(report: Report, *, submission: Path, to: Path) -> None:
    """Write the report as one HTML file, similar to the page that the server shows to the team of the submission."""
    splits = {}
    for name, part in report.splits.items():
        # An explanation contains truncated tables. The page shows the complete tables, as in the JSON output.
        detail = SplitDetail(**{**explanation(report, name), "tables": part.tables, "left_out": {}})
        splits[name] = SplitScores(part.metrics, part.intervals, detail)
    page = report_page(
        TRACKS[report.track], splits, file_name=submission.name, signature=report.signature, notices=report.notices
    )
    with atomic_file(to) as file:
        file.write(page + "\n")
