"""A report for people: headline first, one column a split."""

import sys

from evaluator.catalog import TRACKS
from evaluator.cli.defects import print_notices
from evaluator.cli.output import Ink
from evaluator.report import READABLE, SMALL, STREAMED, Report, SplitReport


def print_report(report: Report) -> None:
    """Print the scores of a report, its notices and its signature."""
    ink = Ink(sys.stdout)
    splits = _distinct(report)
    headline = TRACKS[report.track].headline
    rows = [(name, [_number(part.metrics[name]) for part in splits.values()]) for name in _names(report, headline)]
    rows.append(("classes", [_classes(part, TRACKS[report.track].class_columns[0]) for part in splits.values()]))
    wide = max(len(name) for name, _ in rows)
    column = max(len(cell) for cell in [*splits, *(cell for _, cells in rows for cell in cells)])
    if len(splits) > 1:
        print(ink.faint(" " * wide + "".join(f"  {name:>{column}}" for name in splits)))
    for name, cells in rows:
        text = f"{name:<{wide}}" + "".join(f"  {cell:>{column}}" for cell in cells)
        print(ink.bold(text) if name == headline else text)
    print()
    print_notices(report.notices, stream=sys.stdout)
    print(ink.faint(report.signature))
    if report.way not in (STREAMED, f"{READABLE}: {SMALL}"):
        print(ink.faint(f"scored the slower way, with the same result ({report.way})"))


def _distinct(report: Report) -> dict[str, SplitReport]:
    """Return the splits worth a column: without private images, `all` and `public` are the same."""
    return dict(report.splits) if "private" in report.splits else {"all": report.splits["all"]}


def _names(report: Report, headline: str) -> list[str]:
    return sorted(report.splits["all"].metrics, key=lambda name: name != headline)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.5f}"


def _classes(part: SplitReport, column: str) -> str:
    defined = sum(row[column] is not None for row in part.classes)
    return f"{defined} of {len(part.classes)}"
