"""Reads the lines of a submission as rows, in the layout that the header determines. Cells and tokens are checked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import NoReturn

from evaluator.catalog import Column, Form, Limits
from evaluator.files.cells import MAX_CELLS, pieces_of, shortened, shortened_id, split_cells, tokens_of
from evaluator.files.lines import Line, Lines, batches
from evaluator.files.portions import LONG_CHARACTERS, PORTION_TEXTS, ROW_TEXTS, Portion, Row, split_row
from evaluator.files.source import ReadProgress
from evaluator.problems import MOST_DEFECTS, SHOWN_PER_CODE, Findings, Problem, Stop
from evaluator.texts import counted

BLANKS = " \t"
STRING_COLUMN = "PredictionString"


@dataclass(slots=True)
class RowReader:
    """A reader for the rows of one file. Rows are read in portions, to limit memory usage.

    Each portion contains the defects of its lines, such as a missing cell. The caller checks the values in the cells,
    and adds the defects of lines and of values to the findings, in file order.

    Attributes
    ----------
    form : Form
    limits : Limits
    findings : Findings
    layout : sequence of Column
        The columns of a prediction, in the order in which the track declares them.
    positions : list of int
        Position of each column in the file.
    in_order : callable
        Returns the cells of a line in the order in which the columns are declared.
    kaggle : bool
        Whether the file has prediction strings.
    max_lines, lines, predictions : int
        Maximum number of lines, and the numbers of lines and of predictions read so far.
    image_ids : set
        Ids of the images read so far. Long ids are replaced by digests.
    first_blank : int
        Line number of the first of the blank lines directly before the current line, or 0 if there are none.
    started : bool
        Whether a line that is not blank has been read.
    portion : Portion
        The portion that is being filled.
    defect_counts : dict of code to int
    pieces : iterator of Row
        Pieces of a long line, to be read after the portion.
    """

    form: Form
    limits: Limits
    findings: Findings
    layout: Sequence[Column] = ()
    positions: list[int] = field(default_factory=list)
    in_order: Callable[[list[str]], Sequence[str]] = tuple
    kaggle: bool = False
    max_lines: int = 0
    lines: int = 0
    predictions: int = 0
    image_ids: set[str | bytes] = field(default_factory=set)
    semicolons: int = 0
    first_blank: int = 0
    started: bool = False
    portion: Portion = field(default_factory=Portion)
    defect_counts: dict[str, int] = field(default_factory=dict)
    pieces: Iterator[Row] = field(default_factory=lambda: iter(()))

    def __post_init__(self) -> None:
        """Set a preliminary maximum number of lines. It is updated when the header determines the layout."""
        self.max_lines = self.limits.boxes

    @property
    def image_column(self) -> Column:
        """The column that contains the image id in the layout of the file."""
        return self.form.of_image[0] if self.kaggle else self.form.columns[0]

    def portions(self, path: Path, progress: ReadProgress) -> Iterator[Portion]:
        """Yield the rows of the file in portions, each of which contains the rows of consecutive lines.

        Raises
        ------
        Stop
            If the rest of the file cannot be read. The last portion or the findings contain the reason.
        """
        if self.form.kind == "rows":
            self._lay_out([column.name.lower() for column in self.form.columns])
        last = Findings()
        try:
            for first, lines in batches(path, self.limits, last, progress):
                yield from self._portions_of(first, lines)
        except Stop:
            yield self._finished_portion()
            for problem in last.errors:
                self.findings.add(problem)
            raise
        yield self._finished_portion()
        if not self.started and not self.findings.total:
            first_line = "the header" if self.form.kind == "table" else ",".join(self.form.long_header)
            self.findings.add(Problem("empty", f"the file is empty; the first line must be {first_line}"))

    def _portions_of(self, first: int, lines: Lines) -> Iterator[Portion]:
        """Read lines, and yield each portion (the rows of consecutive lines) once it contains enough values."""
        if isinstance(lines, int):
            self._skip(first, lines)
            return
        for number, line in enumerate(lines, first):
            self._read_line(number, line)
            if self.portion.texts > PORTION_TEXTS:
                yield self._finished_portion()
                for row in self.pieces:
                    yield Portion([row])

    def _finished_portion(self) -> Portion:
        """Return the current portion (the rows and defects of consecutive lines), and start a new one.

        The caller must report the defects of the returned portion before reading more lines.
        """
        portion, self.portion = self.portion, Portion()
        return portion

    def _add_defect(
        self, code: str, message: str, line: int, column: str | None = None, image: str | None = None
    ) -> None:
        shown = self._is_shown(code)
        image = image and shortened_id(image)
        self._append(line, code, Problem(code, message, line=line, column=column, image=image) if shown else None)

    def _is_shown(self, code: str) -> bool:
        self.defect_counts[code] = self.defect_counts.get(code, 0) + 1
        return self.defect_counts[code] <= SHOWN_PER_CODE

    def _append(self, line: int, code: str, problem: Problem | None) -> None:
        """Record a defect in the current portion, which contains the lines that are being read.

        Raise Stop if there are too many defects.
        """
        self.portion.defects.append((line, code, problem))
        if len(self.portion.defects) > self.findings.room:
            raise Stop("there are more defects; the rest of the file was not read")

    def _read_line(self, number: int, line: Line) -> None:
        if isinstance(line, str) and not line.strip(BLANKS):
            self._skip(number, 1)
            return
        if self.first_blank:
            self._add_blank_line_defects(number)
        if not self.started:
            self.started = True
            if self.form.kind == "table":
                self._read_first(number, line)
                return
        self._count_line(number)
        if isinstance(line, Problem):
            self._append(number, line.code, line)
        else:
            self.read_row(number, line)

    def _skip(self, number: int, count: int) -> None:
        """Skip blank lines. Raise Stop if there are too many consecutive blank lines."""
        self.first_blank = self.first_blank or number
        if number + count - self.first_blank > max(self.limits.boxes, MOST_DEFECTS):
            self._stop_at_limit(number)

    def _add_blank_line_defects(self, stop: int) -> None:
        for number in range(self.first_blank, stop):
            self._count_line(number)
            self._add_defect("bad_row", "there is a blank line between rows; remove it", number)
        self.first_blank = 0

    def _read_first(self, number: int, line: Line) -> None:
        if isinstance(line, Problem):
            self._append(number, line.code, line)
            raise Stop("unreadable header")
        self.read_header(number, line)

    def read_header(self, number: int, line: str) -> None:
        """Determine the layout of the file and the positions of its columns. Column names are case-insensitive."""
        cells = [cell.strip(BLANKS) for cell in split_cells(line) or []]
        given = [cell.lower() for cell in cells]
        self.kaggle = bool(self.form.tokens) and STRING_COLUMN.lower() in given
        expected = self.form.kaggle_header if self.kaggle else self.form.long_header
        wanted = [name.lower() for name in expected]
        self.semicolons += ";" in line and len(cells) == 1
        if not set(given) & set(wanted):
            shapes = " or ".join(shape.header for shape in self.form.shapes)
            message = f"the first line must be {shapes}; found {shortened(line)}"
            self._add_defect("bad_header", message, number, self.form.long_header[0])
            raise Stop("bad_header")
        for name, low in zip(expected, wanted, strict=True):
            if given.count(low) != 1:
                what = "is missing" if low not in given else "occurs more than once"
                message = f"column {name} {what}; the header must be {','.join(expected)}"
                self._add_defect("bad_header", message, number, name)
        for cell, low in zip(cells, given, strict=True):
            if low not in wanted:
                message = f"column {shortened(cell)} is unknown; the header must be {','.join(expected)}"
                self._add_defect("bad_header", message, number, shortened_id(cell))
        if "bad_header" in self.defect_counts:
            raise Stop("bad_header")
        self._lay_out(given)

    def _lay_out(self, given: list[str]) -> None:
        """Store the positions of the declared columns in the file, and the attributes that depend on the layout."""
        expected = self.form.kaggle_header if self.kaggle else self.form.long_header
        self.positions = [given.index(name.lower()) for name in expected]
        self.in_order = itemgetter(*self.positions)
        self.layout = self.form.tokens if self.kaggle else self.form.predicted
        self.max_lines = self.limits.images if self.kaggle or self.form.one_each else self.limits.boxes

    def read_row(self, number: int, line: str) -> None:
        """Add the row of a line to the current portion of the file, or the defect of the line if it is invalid."""
        cells = split_cells(line)
        if cells is None:
            message = (
                "quotes do not match, or a quoted cell contains a line break; put quotes around whole cells only, "
                "and each row on one line"
            )
            self._add_defect("bad_quote", message, number)
            return
        if len(cells) != len(self.positions):
            found = f"more than {MAX_CELLS:,}" if len(cells) > MAX_CELLS else f"{len(cells)}"
            message = f"{found} cells; expected {len(self.positions)}"
            self.semicolons += ";" in line and len(cells) == 1
            self._add_defect("bad_width", message, number)
            return
        ordered = self.in_order(cells)
        width = len(self.form.of_image)
        image, image_cells = ordered[0], ordered[1:width]
        if self.image_column.kind == "file":
            image = image.rpartition("/")[2]
        if self.kaggle:
            self._read_string(Row(number, image, image_cells, ()), ordered[-1])
            return
        texts = self.without_blanks(ordered[width:]) if " " in line or "\t" in line else ordered[width:]
        self._add_image(number, image)
        self._count(number, 1)
        self.portion.rows.append(Row(number, image, image_cells, texts))
        self.portion.texts += len(texts)

    def without_blanks(self, cells: Sequence[str]) -> list[str]:
        """Return the cells of a row, without the blanks around numbers."""
        return [
            cell.strip(BLANKS) if column.kind == "number" else cell
            for cell, column in zip(cells, self.layout, strict=True)
        ]

    def _read_string(self, row: Row, string: str) -> None:
        """Add a row with a prediction string to the current portion of the file.

        A long string is split into pieces, which are read afterwards.
        """
        long, width = len(string) > LONG_CHARACTERS, len(self.layout)
        tokens = [] if long else tokens_of(string)
        count = sum(len(tokens_of(piece)) for piece in pieces_of(string, LONG_CHARACTERS)) if long else len(tokens)
        if count % width:
            names = " ".join(column.name for column in self.layout)
            message = f"{counted(count, 'token')}; expected a multiple of {width}: ({names}) for each prediction"
            self._add_defect("bad_tokens", message, row.line, STRING_COLUMN, row.image)
        self._add_image(row.line, row.image)
        if count % width:
            return
        self._count(row.line, count // width)
        if long:
            self.pieces = split_row(row, string, width)
            self.portion.texts += PORTION_TEXTS
        else:
            self.portion.rows.append(Row(row.line, row.image, row.image_cells, tokens))
        self.portion.texts += count + ROW_TEXTS

    def _add_image(self, number: int, image: str) -> None:
        """Store the image id of a row. If the image may have only one row and already has one, record a defect."""
        key = image if len(image) <= self.limits.text_characters else blake2b(image.encode()).digest()
        if (self.kaggle or self.form.one_each) and key in self.image_ids:
            message = f"image {shortened(image)} already has a row; an image can have only one row"
            self._add_defect("duplicate_image", message, number, self.image_column.name, image)
        self.image_ids.add(key)

    def _count_line(self, number: int) -> None:
        self.lines += 1
        if self.lines > self.max_lines:
            self._stop_at_limit(number)

    def _count(self, number: int, predictions: int) -> None:
        self.predictions += predictions
        if self.predictions > self.limits.boxes or len(self.image_ids) > self.limits.images:
            self._stop_at_limit(number)

    def _stop_at_limit(self, number: int) -> NoReturn:
        message = f"more than {self.limits.boxes:,} predictions or {self.limits.images:,} images; every line is counted"
        self.portion.defects.append((number, "too_many_rows", Problem("too_many_rows", message, line=number)))
        self.findings.more = True
        raise Stop("too_many_rows")
