"""A submission's lines as rows: the header tells the shape, each row has as many cells and tokens as it must."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from evaluator.catalog import Column, Form, Limits
from evaluator.files.cells import shortened, split_cells
from evaluator.files.lines import Line, Progress, Stop, batches
from evaluator.problems import Findings, Problem

BLANKS = " \t"
STRING_COLUMN = "PredictionString"


class Row(NamedTuple):
    """One line that has the right number of cells.

    Attributes
    ----------
    line : int
    image : str
    beside : sequence of str
        What else is said of the image, in the order of the declaration.
    texts : sequence of str
        The predictions, one after another.
    """

    line: int
    image: str
    beside: Sequence[str]
    texts: Sequence[str]


@dataclass(slots=True)
class RowReader:
    """Reads one file; holds what has been seen so far."""

    form: Form
    limits: Limits
    findings: Findings
    layout: Sequence[Column] = ()
    positions: list[int] = field(default_factory=list)
    in_order: Callable[[list[str]], Sequence[str]] = tuple
    kaggle: bool = False
    predictions: int = 0
    seen: set[str] = field(default_factory=set)
    blank: list[int] = field(default_factory=list)
    begun: bool = False

    @property
    def image_column(self) -> Column:
        """The column that names the image, in the file's shape."""
        return self.form.of_image[0] if self.kaggle else self.form.columns[0]

    def rows(self, path: Path, progress: Progress) -> Iterator[list[Row]]:
        """Yield the sound rows, batch by batch.

        Raises
        ------
        Stop
            Where the rest cannot be read; the defect is in the findings.
        """
        if self.form.kind == "rows":
            self._lay_out([column.name.lower() for column in self.form.columns])
        for first, lines in batches(path, self.limits, self.findings, progress):
            rows: list[Row] = []
            try:
                for number, line in enumerate(lines, first):
                    self._read_line(number, line, rows)
            except Stop:
                yield rows  # what stands before it is told as well
                raise
            yield rows
        if not self.begun and not self.findings.total:
            first_line = "the header" if self.form.kind == "table" else ",".join(self.form.long_header)
            self.findings.add(Problem("empty", f"the file is empty; the first line must be {first_line}"))

    def _read_line(self, number: int, line: Line, rows: list[Row]) -> None:
        if isinstance(line, str) and not line.strip(BLANKS):
            self.blank.append(number)
            return
        for place in self.blank:  # blank lines at the end are no defect
            self.findings.add(Problem("bad_row", "a blank line between rows; remove it", line=place))
        self.blank.clear()
        is_header, self.begun = not self.begun and self.form.kind == "table", True
        if isinstance(line, Problem):
            self.findings.add(line)
            if is_header:
                raise Stop("unreadable header")
        elif is_header:
            self.read_header(number, line)
        elif (row := self.read_row(number, line)) is not None:
            rows.append(row)

    def read_header(self, number: int, line: str) -> None:
        """Find out the shape and where its columns stand; columns are found by name in any letter case."""
        cells = [cell.strip(BLANKS) for cell in split_cells(line) or []]
        given = [cell.lower() for cell in cells]
        self.kaggle = bool(self.form.tokens) and STRING_COLUMN.lower() in given
        expected = self.form.kaggle_header if self.kaggle else self.form.long_header
        wanted = [name.lower() for name in expected]
        if not set(given) & set(wanted):
            shapes = " or ".join(shape.header for shape in self.form.shapes)
            self._refuse_header(number, None, f"the first line must be {shapes}; it is {shortened(line)}")
        for name, low in zip(expected, wanted, strict=True):
            if given.count(low) != 1:
                what = "is missing" if low not in given else "stands there more than once"
                self._refuse_header(number, name, f"column {name} {what}; the header must be {','.join(expected)}")
        for cell, low in zip(cells, given, strict=True):
            if low not in wanted:
                self._refuse_header(
                    number, cell, f"column {shortened(cell)} is unknown; the header must be {','.join(expected)}"
                )
        if self.findings.counts.get("bad_header"):
            raise Stop("bad_header")
        self._lay_out(given)

    def _lay_out(self, given: list[str]) -> None:
        """Find where each column of the declaration stands among the given ones."""
        expected = self.form.kaggle_header if self.kaggle else self.form.long_header
        self.positions = [given.index(name.lower()) for name in expected]
        self.in_order = itemgetter(*self.positions)
        self.layout = self.form.tokens if self.kaggle else self.form.predicted

    def _refuse_header(self, number: int, column: str | None, message: str) -> None:
        if column is None:
            self.findings.add(Problem("bad_header", message, line=number, column=self.form.long_header[0]))
            raise Stop("bad_header")
        self.findings.add(Problem("bad_header", message, line=number, column=column))

    def read_row(self, number: int, line: str) -> Row | None:
        """Return the row of a line, or None after a defect."""
        cells = split_cells(line)
        if cells is None:
            message = "quotes do not match, or a quoted cell holds a line break; quote a whole cell on one line"
            self.findings.add(Problem("bad_quote", message, line=number))
            return None
        if len(cells) != len(self.positions):
            message = f"{len(cells)} cells; every line must have {len(self.positions)}"
            self.findings.add(Problem("bad_width", message, line=number))
            return None
        ordered = self.in_order(cells)
        width = len(self.form.of_image)
        image, beside = ordered[0], ordered[1:width]
        if self.image_column.kind == "file":
            image = image.rpartition("/")[2]
        texts: Sequence[str] | None = ordered[width:]
        if self.kaggle:
            texts = self.read_tokens(number, image, ordered[-1])
        elif " " in line or "\t" in line:
            texts = self.read_cells(ordered[width:])
        if self.kaggle or self.form.one_each:
            self._refuse_duplicate(number, image)
        self.seen.add(image)
        if texts is None:
            return None
        self._count(number, len(texts) // len(self.layout))
        return Row(number, image, beside, texts)

    def _count(self, number: int, predictions: int) -> None:
        self.predictions += predictions
        if self.predictions > self.limits.boxes or len(self.seen) > self.limits.images:
            message = f"more than {self.limits.boxes:,} predictions or {self.limits.images:,} images"
            self.findings.add(Problem("too_many_rows", message, line=number))
            raise Stop("too_many_rows")

    def read_tokens(self, number: int, image: str, string: str) -> list[str] | None:
        """Return the tokens of a prediction string, parted by spaces or tabs, or None after a defect."""
        tokens = [token for token in string.replace("\t", " ").split(" ") if token]
        width = len(self.layout)
        if len(tokens) % width:
            names = " ".join(column.name for column in self.layout)
            message = f"{len(tokens)} tokens, which is no multiple of {width}: ({names}) for each prediction"
            self.findings.add(
                Problem("bad_tokens", message, line=number, column=STRING_COLUMN, image=shortened_id(image))
            )
            return None
        return tokens

    def read_cells(self, cells: Sequence[str]) -> list[str]:
        """Return the cells of a long row; numbers without the blanks around them."""
        return [
            cell.strip(BLANKS) if column.kind == "number" else cell
            for cell, column in zip(cells, self.layout, strict=True)
        ]

    def _refuse_duplicate(self, number: int, image: str) -> None:
        if image in self.seen:
            message = f"image {shortened(image)} has a row already; it may have one"
            self.findings.add(
                Problem(
                    "duplicate_image", message, line=number, column=self.image_column.name, image=shortened_id(image)
                )
            )


def shortened_id(image: str) -> str:
    """Return an image id as a defect shows it.

    >>> shortened_id("a" * 300) == "a" * 256
    True
    """
    return image[:256]
