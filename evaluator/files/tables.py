"""Reads a CSV file of a ground truth folder. Import this module only when needed, because pandas is slow to import."""

import csv
import io
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaluator.catalog import Limits, TruthFile
from evaluator.files import numbers
from evaluator.files.cells import shortened
from evaluator.files.faults import Faults
from evaluator.problems import SHOWN_PER_CODE, Findings, Problem

# The columns of ids and labels that predictions contain too.
IN_PREDICTIONS = {"ImageID", "LabelName", "LabelName1", "LabelName2", "RelationshipLabel"}
SPACED = "begins or ends with white space, which predictions must then contain too; remove it"


@dataclass(slots=True)
class TruthTable:
    """A CSV file of a ground truth folder, with methods that read its columns and report faults."""

    file: str
    frame: pd.DataFrame
    faults: Faults

    def __len__(self) -> int:
        """Return the number of rows in the ground truth file."""
        return len(self.frame)

    def texts(self, column: str) -> list[str]:
        """Return a column of texts, shape (N,). Empty cells are reported as faults.

        White space around an id or a label is part of it, and is reported as a warning.
        """
        values: list[str] = self.frame[column].tolist()
        if (self.file, column, "is empty") not in self.faults.checked:
            self.mark(column, np.array([not value for value in values], bool), "truth_bad_value", "is empty")
            if column in IN_PREDICTIONS:
                spaced = np.array([value != value.strip() for value in values], bool)
                self.warn(column, spaced, "truth_outer_space", SPACED)
        return values

    def numbers(self, *columns: str) -> NDArray[np.float64]:
        """Return columns of numbers, shape (N, len(columns)).

        Cells that do not contain a finite decimal number are reported as faults.
        """
        return np.stack([self._numbers(column) for column in columns], axis=1)

    def _numbers(self, column: str) -> NDArray[np.float64]:
        texts = [text.strip(" \t") for text in self.frame[column].tolist()]
        values = numbers.parse(texts, Limits())
        if values is not None:
            return values
        wrong = np.zeros(len(texts), bool)
        wrong[numbers.invalid_indices(texts, Limits())] = True
        are_words = np.array([text.lower() in ("true", "false") for text in texts], bool)
        self.mark(column, wrong & are_words, "truth_bad_value", "is not a number; write 1 for true and 0 for false")
        self.mark(column, wrong & ~are_words, "truth_bad_value", "is not a finite decimal number")
        # Invalid cells of a ground truth table become NaN. Comparisons with NaN are false, so later checks do not
        # report these cells again.
        return np.array([np.nan if bad else float(text) for text, bad in zip(texts, wrong, strict=True)])

    def integers(self, column: str) -> NDArray[np.int64]:
        """Return a column of numbers truncated to integers, shape (N,). Numbers beyond ±2**31 are faults."""
        values = self._numbers(column)
        self.mark(column, np.abs(values) > 2**31, "truth_bad_value", "is out of range")
        return np.trunc(np.nan_to_num(values)).astype(np.int64)

    def mark(self, column: str, wrong: NDArray[np.bool_], code: str, what: str) -> None:
        """Record a fault for each row where ``wrong`` is true.

        The message is the value of the cell followed by ``what``. If the same column has been checked with the same
        ``what`` before, nothing is recorded.
        """
        self._add(self.faults.found, column, wrong, code, what)

    def warn(self, column: str, suspect: NDArray[np.bool_], code: str, what: str) -> None:
        """Record a warning for each row where ``suspect`` is true. For the other parameters, see :meth:`mark`."""
        self._add(self.faults.warned, column, suspect, code, what)

    def _add(self, findings: Findings, column: str, wrong: NDArray[np.bool_], code: str, what: str) -> None:
        if (self.file, column, what) in self.faults.checked:
            return
        self.faults.checked.add((self.file, column, what))
        rows = np.flatnonzero(wrong)
        for row in rows[:SHOWN_PER_CODE].tolist():
            value = shortened(str(self.frame[column].iat[row]))
            findings.add(Problem(code, f"{value} {what}", line=row + 2, column=column, file=self.file))
        findings.add_unseen(code, len(rows[SHOWN_PER_CODE:]))


def read_truth_table(text: str, declared: TruthFile, faults: Faults) -> TruthTable:
    """Read a CSV file with a header. Column names are case-insensitive, and unknown columns are ignored.

    Raises
    ------
    InvalidTruth
        If the header is invalid, a row has too many cells, or a quote is not closed.
    """
    name = declared.name
    _refuse_other_separators(text, name, faults)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # All cells are read as strings. The columns are converted later, so that invalid values can be reported.
            frame = pd.read_csv(io.StringIO(text), dtype=str, na_filter=False, skip_blank_lines=False, index_col=False)
    except pd.errors.EmptyDataError:
        faults.add("truth_bad_header", name, f"the file is empty; expected the columns {','.join(declared.columns)}")
        raise faults.error from None
    except (pd.errors.ParserError, pd.errors.ParserWarning):
        line = _widest_line(text)
        what = "a row has more cells than the header" if line else "a quote is not closed"
        faults.add("truth_bad_value", name, what, line=line or _open_quote_line(text))
        raise faults.error from None
    frame = _named(frame, text, declared, faults)
    filled = np.flatnonzero((frame != "").any(axis=1).to_numpy())
    if not len(filled) and (name, "", "") not in faults.checked:
        faults.checked.add((name, "", ""))
        faults.warn("truth_no_rows", name, "has a header but no rows", line=1)
    return TruthTable(name, frame.iloc[: int(filled[-1]) + 1 if len(filled) else 0], faults)


def _named(frame: pd.DataFrame, text: str, declared: TruthFile, faults: Faults) -> pd.DataFrame:
    columns = declared.columns
    given = [cell.strip().lower() for cell in next(csv.reader(io.StringIO(text, newline="")))]
    wrong = [column for column in columns if given.count(column.lower()) != 1]
    for column in wrong:
        what = "occurs more than once" if column.lower() in given else "is missing"
        message = f"column {column} {what}; the header must have {','.join(columns)}"
        faults.add("truth_bad_header", declared.name, message, line=1, column=column)
    if wrong:
        raise faults.error
    columns += tuple(extra for extra in declared.extras if given.count(extra.lower()) == 1)
    return frame.iloc[:, [given.index(column.lower()) for column in columns]].set_axis(list(columns), axis=1)


def _refuse_other_separators(text: str, name: str, faults: Faults) -> None:
    """Raise InvalidTruth if the file uses semicolons or tabs, or starts with `sep=`, like a spreadsheet export."""
    header = text.partition("\n")[0]
    signs = [word for sign, word in ((";", "semicolons"), ("\t", "tabs")) if sign in header and "," not in header]
    if header.lower().startswith("sep="):
        faults.add(
            "truth_bad_header",
            name,
            "the first line is not the header; remove the line that starts with sep=",
            line=1,
        )
    elif signs:
        message = f"the columns are separated by {signs[0]}; save the file with commas, and numbers with decimal points"
        faults.add("truth_bad_header", name, message, line=1)
    if signs or header.lower().startswith("sep="):
        raise faults.error


def _widest_line(text: str) -> int | None:
    """Return the line number of the first line with more cells than the header, or None if there is no such line."""
    rows = csv.reader(io.StringIO(text, newline=""))
    width = len(next(rows))
    return next((rows.line_num for row in rows if len(row) > width), None)


def _open_quote_line(text: str) -> int | None:
    """Return the line number of the last line that has an odd number of quotes, or None if there is no such line."""
    lines = [line for line, content in enumerate(text.split("\n"), 1) if content.count('"') % 2]
    return lines[-1] if lines else None
