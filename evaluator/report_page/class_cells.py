"""The columns and cells of the table of results per class. They have links on the server, but not in a report file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.catalog import ReportColumn, Track
from evaluator.report_page.tables import ReportRow

ARROWS = {"descending": "↓", "ascending": "↑", "": ""}


@dataclass(frozen=True, slots=True)
class ClassColumn:
    """A column in the table of results per class.

    Attributes
    ----------
    name, title, kind : str
    aria_sort : str
        The sort direction, empty if the table is sorted by another column.
    address : str
        The address of the page with the table sorted by this column, empty if there is no link.
    """

    name: str
    title: str
    kind: str
    aria_sort: str = ""
    address: str = ""

    @property
    def arrow(self) -> str:
        """An arrow in the sort direction; empty if the table is sorted by another column."""
        return ARROWS[self.aria_sort]


@dataclass(frozen=True, slots=True)
class ClassCell:
    """A cell in the table of results per class.

    Attributes
    ----------
    kind : str
    value : any
    label : str
        The label of the class, for the cell that contains its name.
    curve_address : str
        The address of the page with the curve of the class, empty if there is no link.
    is_chosen : bool
        Whether the curve of the class is shown.
    """

    kind: str
    value: Any
    label: str = ""
    curve_address: str = ""
    is_chosen: bool = False


def class_headings(track: Track) -> list[ReportColumn]:
    """Return the declared columns of the table of results per class, beginning with the name of the class."""
    names = ReportColumn("name", track.class_word.capitalize(), "text")
    return [names, *track.class_columns, *track.explained_columns]


def plain_class_table(track: Track, rows: Sequence[ReportRow]) -> tuple[list[ClassColumn], list[list[ClassCell]]]:
    """Return the columns and the rows of the table without links, sorted by the first declared column.

    The highest values come first, and undefined values last.
    """
    known = {"name", *(rows[0] if rows else ())}
    first = track.class_columns[0].name
    columns = [
        ClassColumn(heading.name, heading.title, heading.kind, "descending" if heading.name == first else "")
        for heading in class_headings(track)
        if heading.name in known
    ]
    return columns, [[_cell(column, row) for column in columns] for row in _sorted(rows, first)]


def _sorted(rows: Iterable[ReportRow], name: str) -> list[ReportRow]:
    return sorted(rows, key=lambda row: (row.get(name) is None, -(row.get(name) or 0.0)))


def _cell(column: ClassColumn, row: ReportRow) -> ClassCell:
    if column.name != "name":
        return ClassCell(column.kind, row.get(column.name))
    return ClassCell("name", row["name"] or row["label"], str(row["label"]))
