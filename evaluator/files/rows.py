"""A submission's lines as rows: the header tells the shape, each row has as many cells and tokens as it must."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import NoReturn

from evaluator.catalog import Column, Form, Limits
from evaluator.files.cells import MOST_CELLS, pieces_of, shortened, shortened_id, split_cells, tokens_of
from evaluator.files.lines import Line, Lines, Progress, batches
from evaluator.files.portions import LONG_CHARACTERS, PORTION_TEXTS, ROW_TEXTS, Portion, Row, pieced
from evaluator.problems import MOST_DEFECTS, SHOWN_PER_CODE, Findings, Problem, Stop

BLANKS = " \t"
STRING_COLUMN = "PredictionString"


@dataclass(slots=True)
class RowReader:
    """Reads one file; holds what has been seen so far.

    Defects wait in the portion: who takes it adds them to the findings, in order with those of its cells.
    """

    form: Form
    limits: Limits
    findings: Findings
    layout: Sequence[Column] = ()
    positions: list[int] = field(default_factory=list)
    in_order: Callable[[list[str]], Sequence[str]] = tuple
    kaggle: bool = False
    most_lines: int = 0
    lines: int = 0
    predictions: int = 0
    seen: set[str | bytes] = field(default_factory=set)
    blank_from: int = 0
    begun: bool = False
    portion: Portion = field(default_factory=Portion)
    told: dict[str, int] = field(default_factory=dict)
    pieces: Iterator[Row] = field(default_factory=lambda: iter(()))

    def __post_init__(self) -> None:
        """Allow as many lines as predictions, until the header tells the shape."""
        self.most_lines = self.limits.boxes

    @property
    def image_column(self) -> Column:
        """The column that names the image, in the file's shape."""
        return self.form.of_image[0] if self.kaggle else self.form.columns[0]

    def portions(self, path: Path, progress: Progress) -> Iterator[Portion]:
        """Yield the file, some lines at a time.

        Raises
        ------
        Stop
            Where the rest is not read; the reason is in the last portion or in the findings.
        """
        if self.form.kind == "rows":
            self._lay_out([column.name.lower() for column in self.form.columns])
        last = Findings()
        try:
            for first, lines in batches(path, self.limits, last, progress):
                yield from self._portions_of(first, lines)
        except Stop:
            yield self._handed_over()
            for problem in last.errors:
                self.findings.add(problem)
            raise
        yield self._handed_over()
        if not self.begun and not self.findings.total:
            first_line = "the header" if self.form.kind == "table" else ",".join(self.form.long_header)
            self.findings.add(Problem("empty", f"the file is empty; the first line must be {first_line}"))

    def _portions_of(self, first: int, lines: Lines) -> Iterator[Portion]:
        """Yield what is complete; the rest of the lines waits."""
        if isinstance(lines, int):
            self._skip(first, lines)
            return
        for number, line in enumerate(lines, first):
            self._read_line(number, line)
            if self.portion.texts > PORTION_TEXTS:
                yield self._handed_over()
                for row in self.pieces:
                    yield Portion([row])

    def _handed_over(self) -> Portion:
        """Return what is complete; the findings know its defects before this is called again."""
        portion, self.portion = self.portion, Portion()
        return portion

    def _wrong(self, code: str, message: str, line: int, column: str | None = None, image: str | None = None) -> None:
        shown = self._shows(code)
        image = image and shortened_id(image)
        self._add(line, code, Problem(code, message, line=line, column=column, image=image) if shown else None)

    def _shows(self, code: str) -> bool:
        self.told[code] = self.told.get(code, 0) + 1
        return self.told[code] <= SHOWN_PER_CODE

    def _add(self, line: int, code: str, problem: Problem | None) -> None:
        """Note a defect; stop at more than are counted."""
        self.portion.defects.append((line, code, problem))
        if len(self.portion.defects) > self.findings.room:
            raise Stop("more defects than are counted")

    def _read_line(self, number: int, line: Line) -> None:
        if isinstance(line, str) and not line.strip(BLANKS):
            self._skip(number, 1)
            return
        if self.blank_from:
            self._tell_blanks(number)
        if not self.begun:
            self.begun = True
            if self.form.kind == "table":
                self._read_first(number, line)
                return
        self._count_line(number)
        if isinstance(line, Problem):
            self._add(number, line.code, line)
        else:
            self.read_row(number, line)

    def _skip(self, number: int, count: int) -> None:
        """Note where blank lines begin: those at the end are no defect, unless there are more than any row limit."""
        self.blank_from = self.blank_from or number
        if number + count - self.blank_from > max(self.limits.boxes, MOST_DEFECTS):
            self._too_many(number)

    def _tell_blanks(self, stop: int) -> None:
        for number in range(self.blank_from, stop):
            self._count_line(number)
            self._wrong("bad_row", "a blank line between rows; remove it", number)
        self.blank_from = 0

    def _read_first(self, number: int, line: Line) -> None:
        if isinstance(line, Problem):
            self._add(number, line.code, line)
            raise Stop("unreadable header")
        self.read_header(number, line)

    def read_header(self, number: int, line: str) -> None:
        """Find out the shape and where its columns stand; columns are found by name in any letter case."""
        cells = [cell.strip(BLANKS) for cell in split_cells(line) or []]
        given = [cell.lower() for cell in cells]
        self.kaggle = bool(self.form.tokens) and STRING_COLUMN.lower() in given
        expected = self.form.kaggle_header if self.kaggle else self.form.long_header
        wanted = [name.lower() for name in expected]
        if not set(given) & set(wanted):
            shapes = " or ".join(shape.header for shape in self.form.shapes)
            message = f"the first line must be {shapes}; it is {shortened(line)}"
            self._wrong("bad_header", message, number, self.form.long_header[0])
            raise Stop("bad_header")
        for name, low in zip(expected, wanted, strict=True):
            if given.count(low) != 1:
                what = "is missing" if low not in given else "stands there more than once"
                message = f"column {name} {what}; the header must be {','.join(expected)}"
                self._wrong("bad_header", message, number, name)
        for cell, low in zip(cells, given, strict=True):
            if low not in wanted:
                message = f"column {shortened(cell)} is unknown; the header must be {','.join(expected)}"
                self._wrong("bad_header", message, number, shortened_id(cell))
        if "bad_header" in self.told:
            raise Stop("bad_header")
        self._lay_out(given)

    def _lay_out(self, given: list[str]) -> None:
        """Find where each column of the declaration stands among the given ones."""
        expected = self.form.kaggle_header if self.kaggle else self.form.long_header
        self.positions = [given.index(name.lower()) for name in expected]
        self.in_order = itemgetter(*self.positions)
        self.layout = self.form.tokens if self.kaggle else self.form.predicted
        self.most_lines = self.limits.images if self.kaggle or self.form.one_each else self.limits.boxes

    def read_row(self, number: int, line: str) -> None:
        """Put the row of a line into the portion, or its defect."""
        cells = split_cells(line)
        if cells is None:
            message = "quotes do not match, or a quoted cell holds a line break; quote a whole cell on one line"
            self._wrong("bad_quote", message, number)
            return
        if len(cells) != len(self.positions):
            found = f"more than {MOST_CELLS:,}" if len(cells) > MOST_CELLS else f"{len(cells)}"
            message = f"{found} cells; every line must have {len(self.positions)}"
            self._wrong("bad_width", message, number)
            return
        ordered = self.in_order(cells)
        width = len(self.form.of_image)
        image, beside = ordered[0], ordered[1:width]
        if self.image_column.kind == "file":
            image = image.rpartition("/")[2]
        if self.kaggle:
            self._read_string(Row(number, image, beside, ()), ordered[-1])
            return
        texts = self.read_cells(ordered[width:]) if " " in line or "\t" in line else ordered[width:]
        self._name(number, image)
        self._count(number, 1)
        self.portion.rows.append(Row(number, image, beside, texts))
        self.portion.texts += len(texts)

    def read_cells(self, cells: Sequence[str]) -> list[str]:
        """Return the cells of a long row; numbers without the blanks around them."""
        return [
            cell.strip(BLANKS) if column.kind == "number" else cell
            for cell, column in zip(cells, self.layout, strict=True)
        ]

    def _read_string(self, row: Row, string: str) -> None:
        """Put a row with its tokens into the portion; a long string waits in pieces."""
        long, width = len(string) > LONG_CHARACTERS, len(self.layout)
        tokens = [] if long else tokens_of(string)
        count = sum(len(tokens_of(piece)) for piece in pieces_of(string, LONG_CHARACTERS)) if long else len(tokens)
        if count % width:
            names = " ".join(column.name for column in self.layout)
            message = f"{count} tokens, which is no multiple of {width}: ({names}) for each prediction"
            self._wrong("bad_tokens", message, row.line, STRING_COLUMN, row.image)
        self._name(row.line, row.image)
        if count % width:
            return
        self._count(row.line, count // width)
        if long:
            self.pieces = pieced(row, string, width)
            self.portion.texts += PORTION_TEXTS
        else:
            self.portion.rows.append(Row(row.line, row.image, row.beside, tokens))
        self.portion.texts += count + ROW_TEXTS

    def _name(self, number: int, image: str) -> None:
        """Note that an image has a row, and whether it had one before where it may have only one."""
        key = image if len(image) <= self.limits.text_characters else blake2b(image.encode()).digest()
        if (self.kaggle or self.form.one_each) and key in self.seen:
            message = f"image {shortened(image)} has a row already; it may have one"
            self._wrong("duplicate_image", message, number, self.image_column.name, image)
        self.seen.add(key)

    def _count_line(self, number: int) -> None:
        self.lines += 1
        if self.lines > self.most_lines:
            self._too_many(number)

    def _count(self, number: int, predictions: int) -> None:
        self.predictions += predictions
        if self.predictions > self.limits.boxes or len(self.seen) > self.limits.images:
            self._too_many(number)

    def _too_many(self, number: int) -> NoReturn:
        message = f"more than {self.limits.boxes:,} predictions or {self.limits.images:,} images; every line counts"
        self.portion.defects.append((number, "too_many_rows", Problem("too_many_rows", message, line=number)))
        self.findings.more = True
        raise Stop("too_many_rows")
