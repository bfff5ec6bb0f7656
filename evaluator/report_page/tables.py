"""Tables in the report on a scored submission, as declared by the track of its phase."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.catalog import ReportColumn, ReportTable

ReportRow = Mapping[str, Any]
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table in a report.

    `meaning` explains the value, if necessary. `bar` is the length of a bar from 0 to 100, or None if the cell has no
    bar. For a class name, `id` is the id of the class if it differs from the name.
    """

    kind: str
    value: Any
    id: str = ""
    meaning: str = ""
    bar: float | None = None


@dataclass(frozen=True, slots=True)
class ShownTable:
    """The first rows of a table in a report.

    `more` is the number of stored rows that are not shown here, but are in report.json. `left_out` is the number of
    rows that are not stored.
    """

    name: str
    title: str
    columns: Sequence[ReportColumn]
    rows: list[list[TableCell]]
    more: int
    left_out: int

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """The title of each column of the table, and whether the column contains numbers."""
        return [(column.title, column.kind not in ("text", "switch")) for column in self.columns]


def shown_table(
    declared: ReportTable, rows: Sequence[ReportRow], names: Mapping[str, str], left_out: int
) -> ShownTable:
    """Return the first rows of a table that a track declares. `names` maps class labels to names."""
    first = rows[: declared.shown]
    barred = next((column for column in declared.columns if column.kind in ("fraction", "gain")), None)
    full = full_length(barred, first)

    def cell(column: ReportColumn, row: ReportRow) -> TableCell:
        value = row.get(column.name)
        if column.kind == "text":
            word, meaning = word_and_meaning(value, declared, names)
            return TableCell("text", word, id=id_of(value, names), meaning=meaning)
        bar = bar_length(value, full) if column is barred else None
        return TableCell(column.kind, value, bar=bar)

    cells = [[cell(column, row) for column in declared.columns] for row in first]
    return ShownTable(declared.name, declared.title, declared.columns, cells, len(rows) - len(first), left_out)


def full_length(column: ReportColumn | None, rows: Sequence[ReportRow]) -> float:
    """Return the value for which a bar in a table column has full length.

    In a column of score gains (differences between scores), this is the largest absolute value. In all other columns,
    it is 1.
    """
    if column is None or column.kind != "gain":
        return 1.0
    return max([abs(row.get(column.name) or 0.0) for row in rows], default=0.0)


def bar_length(value: Any, full: float) -> float | None:
    """Return the length of a value's bar from 0 to 100, where `full` is the value of a bar with full length.

    Return None if the value is not a number or `full` is 0.
    """
    if not isinstance(value, float) or not full:
        return None
    return round(min(100 * max(0.0, value) / full, 100.0), 1)


def word_and_meaning(value: Any, declared: ReportTable, names: Mapping[str, str]) -> tuple[str, str]:
    """Return the text of a table cell and an explanation of the value, which is empty if the table declares none."""
    text = NOTHING if value is None else str(value)
    if text in declared.meanings:
        return text.replace("_", " ").capitalize(), declared.meanings[text]
    return names.get(text, text), ""


def id_of(value: Any, names: Mapping[str, str]) -> str:
    """Return the id of a class if it differs from the name of the class, and an empty string otherwise."""
    return str(value) if names.get(str(value), str(value)) != str(value) else ""
