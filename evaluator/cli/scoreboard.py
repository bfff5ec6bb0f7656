"""Prints a report as text. The first row contains the headline metric, and there is one column per split."""

import sys
from collections.abc import Sequence

from evaluator.catalog import TRACKS
from evaluator.cli.defects import print_notices
from evaluator.cli.output import DECIMALS, TextStyle
from evaluator.digits import outward, written
from evaluator.problems import visible
from evaluator.report import ClassRow, ReferenceNeeded, Report, SplitReport

ROWS_SHOWN = 12


def print_report(report: Report) -> None:
    """Print the scores and the notices of a report, and the signature that identifies how the scores were computed."""
    style = TextStyle(sys.stdout)
    splits = _distinct(report)
    headline = TRACKS[report.track].headline
    rows = [(name, [_score(part, name) for part in splits.values()]) for name in _names(report, headline)]
    for first in TRACKS[report.track].class_columns[:1]:
        rows.append(("classes", [_classes(part, first.name) for part in splits.values()]))
    width = max(len(name) for name, _ in rows)
    column = max(len(cell) for cell in [*splits, *(cell for _, cells in rows for cell in cells)])
    if len(splits) > 1:
        print(style.faint(" " * width + "".join(f"  {name:>{column}}" for name in splits)))
    for name, cells in rows:
        text = f"{name:<{width}}" + "".join(f"  {cell:>{column}}" for cell in cells)
        print(style.bold(text) if name == headline else text)
    for name, table in splits["all"].tables.items():
        print(f"\n{style.bold(name)}")
        _print_table(table)
    print()
    if replicates := report.splits["all"].replicates:
        print(f"[low, high]: 95% intervals from {len(replicates[headline]):,} bootstrap replicates of the images")
    print_notices(report.notices, stream=sys.stdout)
    print(style.faint(report.signature))
    if report.reference not in (None, ReferenceNeeded.NO_FAST_PATH, ReferenceNeeded.SMALL_FILE):
        print(style.faint(f"scored by the {report.way}; the fast path gives the same result"))


def _print_table(table: Sequence[ClassRow]) -> None:
    """Print the first rows of a report table, with numbers aligned to the right."""
    shown = [[*(table[0] if table else ())], *([_cell(cell) for cell in row.values()] for row in table[:ROWS_SHOWN])]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    numeric = [not isinstance(cell, str) for cell in (table[0].values() if table else ())]
    for row in shown:
        cells = [
            f"{cell:{'>' if right else '<'}{width}}" for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        print("  " + "  ".join(cells).rstrip())
    if len(table) > ROWS_SHOWN:
        print(f"  … and {len(table) - ROWS_SHOWN:,} more; --json writes all rows")


def _cell(value: str | float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return written(value, DECIMALS) if abs(value) <= 1 else f"{value:g}"
    return visible(str(value))


def _distinct(report: Report) -> dict[str, SplitReport]:
    """Return the splits to print. Without private images, `public` has the same scores as `all` and is omitted."""
    return dict(report.splits) if "private" in report.splits else {"all": report.splits["all"]}


def _names(report: Report, headline: str) -> list[str]:
    return sorted(report.splits["all"].metrics, key=lambda name: name != headline)


def _score(part: SplitReport, name: str) -> str:
    value, interval = part.metrics[name], part.intervals.get(name)
    if value is None:
        return "–"
    if interval is None:
        return written(value, DECIMALS)
    low, high = (written(end, DECIMALS) for end in outward(interval, DECIMALS))
    return f"{written(value, DECIMALS)} [{low}, {high}]"


def _classes(part: SplitReport, column: str) -> str:
    defined = sum(row[column] is not None for row in part.classes)
    return f"{defined} of {len(part.classes)}"
