"""A submission's lines as rows: the header tells the shape, each row has as many cells and tokens as it must."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluator.catalog import Column, Limits, Track
from evaluator.files.cells import shortened, split_cells
from evaluator.files.lines import Line, Progress, Stop, batches
from evaluator.problems import Findings, Problem

BLANKS = " \t"
STRING_COLUMN = "PredictionString"


@dataclass(frozen=True, slots=True)
class Row:
    """One line that has the right number of cells: its image, and its predictions as texts one after another."""

    line: int
    image: str
    texts: list[str]


@dataclass(slots=True)
class RowReader:
    """Reads one file; holds what has been seen so far."""

    track: Track
    limits: Limits
    findings: Findings
    layout: Sequence[Column] = ()
    positions: list[int] = field(default_factory=list)
    kaggle: bool = False
    predictions: int = 0
    seen: set[str] = field(default_factory=set)

    @property
    def image_column(self) -> Column:
        """The column that names the image, in the file's shape."""
        return self.track.row_columns[0] if self.kaggle else self.track.long_columns[0]

    def rows(self, path: Path, progress: Progress) -> Iterator[list[Row]]:
        """Yield the sound rows, batch by batch.

        Raises
        ------
        Stop
            Where the rest cannot be read; the defect is in the findings.
        """
        blank: list[int] = []
        header_read = False
        for first, lines in batches(path, self.limits, self.findings, progress):
            rows = []
            for number, line in enumerate(lines, first):
                if line is not None and not line.strip(BLANKS):
                    blank.append(number)
                    continue
                for place in blank:  # blank lines at the end are no defect
                    self.findings.add(Problem("bad_row", "a blank line between rows; remove it", line=place))
                blank.clear()
                if not header_read:
                    self.read_header(number, line)
                    header_read = True
                elif (row := self.read_row(number, line)) is not None:
                    rows.append(row)
            yield rows
        if not header_read and not self.findings.total:
            self.findings.add(Problem("empty", "the file is empty; the first line must be the header"))

    def read_header(self, number: int, line: Line) -> None:
        """Find out the shape and where its columns stand; columns are found by name in any letter case."""
        if line is None:
            raise Stop("unreadable header")
        cells = [cell.strip(BLANKS) for cell in split_cells(line) or []]
        given = [cell.lower() for cell in cells]
        self.kaggle = STRING_COLUMN.lower() in given
        expected = self.track.kaggle_header if self.kaggle else self.track.long_header
        wanted = [name.lower() for name in expected]
        if not set(given) & set(wanted):
            shapes = " or ".join(",".join(names) for names in (self.track.kaggle_header, self.track.long_header))
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
        self.positions = [given.index(low) for low in wanted]
        self.layout = self.track.tokens if self.kaggle else self.track.long_columns[1:]

    def _refuse_header(self, number: int, column: str | None, message: str) -> None:
        if column is None:
            self.findings.add(Problem("bad_header", message, line=number, column=self.track.long_header[0]))
            raise Stop("bad_header")
        self.findings.add(Problem("bad_header", message, line=number, column=column))

    def read_row(self, number: int, line: Line) -> Row | None:
        """Return the row of a line, or None after a defect."""
        if line is None:
            return None
        cells = split_cells(line)
        if cells is None:
            message = "quotes do not match, or a quoted cell holds a line break; quote a whole cell on one line"
            self.findings.add(Problem("bad_quote", message, line=number))
            return None
        if len(cells) != len(self.positions):
            message = f"{len(cells)} cells where the header has {len(self.positions)}"
            self.findings.add(Problem("bad_width", message, line=number))
            return None
        image, *rest = (cells[position] for position in self.positions)
        texts = self.read_tokens(number, image, rest[-1]) if self.kaggle else self.read_cells(rest)
        if self.kaggle:
            self._refuse_duplicate(number, image)
        self.seen.add(image)
        if texts is None:
            return None
        self.predictions += len(texts) // len(self.layout)
        if self.predictions > self.limits.boxes or len(self.seen) > self.limits.images:
            message = f"more than {self.limits.boxes:,} predictions or {self.limits.images:,} images"
            self.findings.add(Problem("too_many_rows", message, line=number))
            raise Stop("too_many_rows")
        return Row(number, image, texts)

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

    def read_cells(self, cells: list[str]) -> list[str]:
        """Return the cells of a long row; numbers without the blanks around them."""
        return [
            cell.strip(BLANKS) if column.kind == "number" else cell
            for cell, column in zip(cells, self.layout, strict=True)
        ]

    def _refuse_duplicate(self, number: int, image: str) -> None:
        if image in self.seen:
            message = f"image {shortened(image)} has a row already; put all its predictions into one string"
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
