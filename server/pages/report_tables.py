"""Tables of a report, cell by cell, as their declarations say; and the confusion matrix."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.catalog import Heading, ReportTable

Row = Mapping[str, Any]
SIDE = 8  # of the confusion matrix: the classes that are confused most
NOTHING = "nothing"
SHADES = (0.05, 0.2, 0.5)  # shares of a row from which a cell is darker


@dataclass(frozen=True, slots=True)
class Cell:
    """One value: its kind, what its word means, and how far its bar reaches, from 0 to 100.

    `label`: what it is called where a phone folds it under its row; the number that matters most is not folded.
    """

    kind: str
    value: Any
    label: str = ""
    meaning: str = ""
    bar: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table with its first rows; `more` are in the file, and others nowhere. Phones show `main` first."""

    name: str
    title: str
    columns: Sequence[Heading]
    main: Heading
    rows: list[list[Cell]]
    more: int
    left_out: int

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """The title of each column, and whether numbers are below it."""
        return [(column.title, column.kind not in ("text", "switch")) for column in self.columns]


@dataclass(frozen=True, slots=True)
class Matrix:
    """How often each thing was taken for each other; shades from 0 to 3 by its share of the row."""

    title: str
    predicted: list[str]
    rows: list[tuple[str, list[tuple[int, int]]]]
    more: int


def table_of(declared: ReportTable, rows: Sequence[Row], names: Mapping[str, str], left_out: int) -> Table:
    """Lay out a table; `names` are those of the classes, by label."""
    shown = rows[: declared.shown]
    barred = next((column for column in declared.columns if column.kind in ("fraction", "gain")), None)
    most = max([abs(row.get(barred.name) or 0.0) for row in shown], default=0.0) if barred else 0.0
    whole = most if barred is not None and barred.kind == "gain" else 1.0

    def cell(column: Heading, row: Row) -> Cell:
        value = row.get(column.name)
        if column.kind == "text":
            word, meaning = in_words(value, declared, names)
            return Cell("text", word, meaning=meaning)
        label = "" if column is (barred or declared.columns[-1]) else f"{column.title}:"
        bar = 100 * max(0.0, value) / whole if column is barred and isinstance(value, float) and whole else None
        return Cell(column.kind, value, label, bar=None if bar is None else round(min(bar, 100.0), 1))

    cells = [[cell(column, row) for column in declared.columns] for row in shown]
    main = barred or declared.columns[-1]
    return Table(declared.name, declared.title, declared.columns, main, cells, len(rows) - len(shown), left_out)


def in_words(value: Any, declared: ReportTable, names: Mapping[str, str]) -> tuple[str, str]:
    """Return a text cell and its meaning: a kind of error as words, a label as the name of its class."""
    text = NOTHING if value is None else str(value)
    if text in declared.meanings:
        return text.replace("_", " ").capitalize(), declared.meanings[text]
    return names.get(text, text), ""


def matrix_of(declared: ReportTable, rows: Sequence[Row], names: Mapping[str, str]) -> Matrix | None:
    """Put the most confused classes in a matrix: rows are what was there, columns what was predicted."""
    counts = {(row["truth"], row["prediction"]): int(row["count"]) for row in rows}
    confused = Counter({label: 0 for pair in counts for label in pair if label is not None})
    for (there, said), count in counts.items():
        if there != said and there is not None and said is not None:
            confused.update({there: count, said: count})
    classes = [label for label, _ in confused.most_common()]
    shown: list[str | None] = [*classes[:SIDE], None]
    if not classes:
        return None

    def line(there: str | None) -> list[tuple[int, int]]:
        total = sum(counts.get((there, said), 0) for said in shown) or 1
        found = [counts.get((there, said), 0) for said in shown]
        return [(count, sum(count / total >= share for share in SHADES)) for count in found]

    words = [NOTHING if label is None else names.get(label, label) for label in shown]
    lines = [(word, line(label)) for word, label in zip(words, shown, strict=True)]
    return Matrix(declared.title, words, lines, max(0, len(classes) - SIDE))
