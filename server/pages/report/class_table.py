"""The table of results per class in a report. The page's query string controls searching, sorting and pagination."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.utils.http import urlencode

from evaluator.catalog import ReportColumn, Track
from evaluator.report_page.class_cells import ClassCell, ClassColumn, class_headings
from evaluator.report_page.content import SplitDetail
from evaluator.report_page.tables import ReportRow

ROWS_PER_PAGE = 25


@dataclass(frozen=True, slots=True)
class ReportQuery:
    """The parsed query string of a report. `chosen_class` is the label of the class whose curve is shown."""

    search: str
    sort: str
    descending: bool
    split: str
    chosen_class: str = ""

    @property
    def order(self) -> str:
        """The value of the query parameter `sort`: the column's name, with a minus sign for descending order."""
        return f"-{self.sort}" if self.descending else self.sort

    def query_string(self, **changes: str) -> str:
        """Return the report's query string with the given changes, starting at the first page of the table."""
        given = {"q": self.search, "sort": self.order, "split": self.split, "chosen": self.chosen_class}
        return "?" + urlencode({name: value for name, value in (given | changes).items() if value})


def parse_report_query(parameters: Mapping[str, str], *, columns: Sequence[str]) -> ReportQuery:
    """Parse the query string of a report.

    If the query string does not name a known column, the table is sorted by the first column in descending order.
    """
    sort = parameters.get("sort", "")
    name = sort.removeprefix("-")
    if name not in (*columns, "name"):
        sort, name = f"-{columns[0]}", columns[0]
    search, chosen = (parameters.get(field, "")[:256].strip() for field in ("q", "chosen"))
    return ReportQuery(search, name, sort.startswith("-"), parameters.get("split", ""), chosen)


@dataclass(frozen=True, slots=True)
class Addresses:
    """The URLs of the tab with the table of classes and of the tab with the curves, without a query string."""

    classes: str
    curves: str


@dataclass(frozen=True, slots=True)
class ClassTable:
    """One page of the table of results per class. A page number can be appended to the query string `query`."""

    columns: list[ClassColumn]
    rows: list[list[ClassCell]]
    pages: "Page[Any]"
    word: str
    query: str


def class_table(
    track: Track, query: ReportQuery, detail: SplitDetail, page: str, addresses: Addresses
) -> ClassTable | None:
    """Return one page of the table of results per class, or None if the track has no results per class."""
    if not track.class_columns:
        return None
    pages: Page[Any] = Paginator(select(detail.classes, query), ROWS_PER_PAGE).get_page(page)
    known = {"name", *(detail.classes[0] if detail.classes else ())}
    headings = [heading for heading in class_headings(track) if heading.name in known]
    columns = [class_column(heading, query, addresses) for heading in headings]
    with_curve = labels_with_curve(detail)
    return ClassTable(
        columns=columns,
        rows=[[class_cell(column, row, query, with_curve, addresses) for column in columns] for row in pages],
        pages=pages,
        word=track.class_word,
        query=f"{query.query_string()}&",
    )


def labels_with_curve(detail: SplitDetail) -> set[str]:
    return {row["label"] for row in detail.curves if row["area"] is not None}


def class_column(heading: ReportColumn, query: ReportQuery, addresses: Addresses) -> ClassColumn:
    """Return a column of the table of results per class, with the URL that sorts by it.

    A first click on the heading sorts numbers in descending order and names from A to Z. A second click reverses the
    order.
    """
    name = heading.name
    is_current = query.sort == name
    reversed_order = name if is_current == query.descending else f"-{name}"
    first_order = name if name == "name" else f"-{name}"
    aria_sort = ("descending" if query.descending else "ascending") if is_current else ""
    sort = reversed_order if is_current else first_order
    address = f"{addresses.classes}{query.query_string(sort=sort)}#classes"
    return ClassColumn(name, heading.title, heading.kind, aria_sort, address)


def class_cell(
    column: ClassColumn, row: ReportRow, query: ReportQuery, with_curve: set[str], addresses: Addresses
) -> ClassCell:
    value, label = row.get(column.name), row["label"]
    if column.name != "name":
        return ClassCell(column.kind, value)
    curve = f"{addresses.curves}{query.query_string(chosen=label)}#report" if label in with_curve else ""
    return ClassCell("name", value or label, label, curve, label == query.chosen_class)


def select(rows: Sequence[ReportRow], query: ReportQuery) -> list[ReportRow]:
    """Return the rows that match the query's search text, sorted as requested.

    Undefined values come last in both sort directions.

    >>> rows = [{"label": "/m/1", "name": "Cat", "ap": 0.5}, {"label": "/m/2", "name": "Dog", "ap": None}]
    >>> [row["name"] for row in select(rows, ReportQuery("", "ap", False, ""))]
    ['Cat', 'Dog']
    """
    needle = query.search.casefold()
    found = [row for row in rows if needle in f"{row['label']} {row['name']}".casefold()]
    known = [row for row in found if row.get(query.sort) is not None]
    unknown = [row for row in found if row.get(query.sort) is None]

    def sort_key(row: ReportRow) -> Any:
        value = row[query.sort]
        return value.casefold() if isinstance(value, str) else value

    return sorted(known, key=sort_key, reverse=query.descending) + unknown
