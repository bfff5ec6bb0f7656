"""The files of a truth folder as columns of text and numbers; every fault with file, line and column."""

import csv
import gzip
import io
import json
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaluator.catalog import Limits, Track
from evaluator.files import numbers
from evaluator.files.cells import shortened
from evaluator.problems import SHOWN_PER_CODE, Findings, InvalidTruth, Problem


@dataclass(slots=True)
class TruthTable:
    """One CSV file of a truth folder; rows are numbered as an editor shows them."""

    file: str
    frame: pd.DataFrame
    faults: "Faults"

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.frame)

    def texts(self, column: str) -> list[str]:
        """Return a column of ids or labels, shape (N,); an empty one is a fault."""
        values: list[str] = self.frame[column].tolist()
        self.mark(column, np.array([not value for value in values], bool), "truth_bad_value", "is empty")
        return values

    def numbers(self, *columns: str) -> NDArray[np.float64]:
        """Return number columns side by side, shape (N, len(columns)); what is no finite decimal is a fault."""
        return np.stack([self._numbers(column) for column in columns], axis=1)

    def _numbers(self, column: str) -> NDArray[np.float64]:
        texts = [text.strip(" \t") for text in self.frame[column].tolist()]
        values = numbers.parse(texts, Limits())
        if values is not None:
            return values
        wrong = np.array([numbers.fault(text, Limits()) is not None for text in texts])
        self.mark(column, wrong, "truth_bad_value", "is not a finite decimal number")
        # NaN compares with nothing, so that one fault is not told as two
        return np.array([np.nan if bad else float(text) for text, bad in zip(texts, wrong, strict=True)])

    def integers(self, column: str) -> NDArray[np.int64]:
        """Return a number column cut to whole numbers, shape (N,)."""
        values = self._numbers(column)
        self.mark(column, np.abs(values) > 2**31, "truth_bad_value", "is out of range")
        return np.trunc(np.nan_to_num(values)).astype(np.int64)

    def mark(self, column: str, wrong: NDArray[np.bool_], code: str, what: str) -> None:
        """Note a fault for each row where ``wrong`` is true; the same check of a column twice is one."""
        if (self.file, column, what) in self.faults.checked:
            return
        self.faults.checked.add((self.file, column, what))
        rows = np.flatnonzero(wrong)
        for row in rows[:SHOWN_PER_CODE].tolist():
            value = shortened(str(self.frame[column].iat[row]))
            self.faults.add(code, self.file, f"{value} {what}", line=row + 2, column=column)
        self.faults.count(code, len(rows[SHOWN_PER_CODE:]))


@dataclass(slots=True)
class Faults:
    """What is wrong with a truth; all of it is counted and said at once."""

    found: Findings = field(default_factory=Findings)
    checked: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, code: str, file: str, message: str, *, line: int | None = None, column: str | None = None) -> None:
        """Note one fault."""
        self.found.add(Problem(code, message, line=line, column=column, file=file))

    def count(self, code: str, more: int) -> None:
        """Count further faults of a kind that need not be shown."""
        if more:
            self.found.counts[code] = self.found.counts.get(code, 0) + more

    def check(self) -> None:
        """Raise InvalidTruth where anything was noted."""
        if self.found.total:
            raise self.error

    @property
    def error(self) -> InvalidTruth:
        """Everything that was noted."""
        return InvalidTruth(self.found)


class TruthFolder:
    """A truth folder: fixed file names, each plain or gzipped, read whole.

    Parameters
    ----------
    path : Path
    track : Track
        Which files and columns belong to it.
    usage : bytes or None
        Content that stands for ``usage.csv``.

    Raises
    ------
    InvalidTruth
        ``truth_missing_file``, with every file that is missing, or ``truth_bad_value`` for a damaged one.
    """

    def __init__(self, path: Path, track: Track, usage: bytes | None = None) -> None:
        self.track = track
        self.faults = Faults()
        if not path.is_dir():
            self.faults.add("truth_missing_file", path.name, "there is no such folder")
            self.faults.check()
        self.contents: dict[str, bytes] = {}
        for declared in track.truth_files:
            content = self._content(path, declared.name)
            if content is not None:
                self.contents[declared.name] = content
            elif declared.required:
                self.faults.add(
                    "truth_missing_file", declared.name, f"{declared.name} is missing from the truth folder"
                )
        if usage is not None:
            self.contents["usage.csv"] = usage
        self.faults.check()

    def _content(self, folder: Path, name: str) -> bytes | None:
        plain, zipped = folder / name, folder / f"{name}.gz"
        if plain.is_file() and zipped.is_file():
            self.faults.add("truth_bad_value", name, f"both {name} and {name}.gz are there; keep one")
        try:
            if plain.is_file():
                content = plain.read_bytes()
                return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
            return gzip.decompress(zipped.read_bytes()) if zipped.is_file() else None
        except (OSError, EOFError, zlib.error):
            self.faults.add("truth_bad_value", name, "the gzip file is damaged")
            return b""

    @property
    def sha256(self) -> str:
        """Name of the truth: over the sorted (file name, sha256 of the decompressed bytes)."""
        lines = (f"{name} {sha256(content).hexdigest()}\n" for name, content in sorted(self.contents.items()))
        return sha256("".join(lines).encode()).hexdigest()

    def __contains__(self, name: str) -> bool:
        """Tell whether an optional file is there."""
        return name in self.contents

    def _text(self, name: str) -> str:
        try:
            return self.contents[name].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.contents[name][: error.start].count(b"\n") + 1
            self.faults.add("truth_bad_value", name, "not UTF-8", line=line)
            raise self.faults.error from None

    def table(self, name: str) -> TruthTable:
        """Read a CSV file with a header; columns are found by name in any letter case, others are ignored."""
        declared = next(file for file in self.track.truth_files if file.name == name)
        text = self._text(name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                # Quotes and line ends are pandas' to judge; every cell stays the text it is.
                frame = pd.read_csv(
                    io.StringIO(text), dtype=str, na_filter=False, skip_blank_lines=False, index_col=False
                )
        except pd.errors.EmptyDataError:
            self.faults.add("truth_bad_header", name, f"the file is empty; it must hold {','.join(declared.columns)}")
            raise self.faults.error from None
        except (pd.errors.ParserError, pd.errors.ParserWarning):
            self.faults.add("truth_bad_value", name, "more cells than the header has columns", line=_widest_line(text))
            raise self.faults.error from None
        frame = self._named(frame, name, declared.columns)
        filled = np.flatnonzero((frame != "").any(axis=1).to_numpy())
        return TruthTable(name, frame.iloc[: int(filled[-1]) + 1 if len(filled) else 0], self.faults)

    def _named(self, frame: pd.DataFrame, name: str, columns: Sequence[str]) -> pd.DataFrame:
        header = next(csv.reader(io.StringIO(self._text(name), newline="")))
        given = [cell.strip().lower() for cell in header]
        wrong = [column for column in columns if given.count(column.lower()) != 1]
        for column in wrong:
            what = "stands there more than once" if column.lower() in given else "is missing"
            message = f"column {column} {what}; the header must hold {','.join(columns)}"
            self.faults.add("truth_bad_header", name, message, line=1, column=column)
        if wrong:
            raise self.faults.error
        return frame.iloc[:, [given.index(column.lower()) for column in columns]].set_axis(list(columns), axis=1)

    def names(self, name: str) -> dict[str, str]:
        """Read a headerless ``label,display name`` file; without a display name, the label stands for it."""
        found: dict[str, str] = {}
        for line, row in enumerate(csv.reader(io.StringIO(self._text(name), newline="")), 1):
            label = row[0].strip() if row else ""
            if not label or (line == 1 and label.lower() in ("labelname", "relationshiplabel")):
                continue
            if label in found:
                self.faults.add("truth_bad_value", name, f"{shortened(label)} is listed twice", line=line)
            found[label] = ",".join(row[1:]).strip() or label
        return found

    def json(self, name: str) -> Any:
        """Read a JSON file."""
        try:
            return json.loads(self._text(name))
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            self.faults.add("truth_bad_value", name, f"not JSON: {error}", line=line)
            raise self.faults.error from None


def _widest_line(text: str) -> int | None:
    """Return the first line with more cells than the header."""
    rows = csv.reader(io.StringIO(text, newline=""))
    width = len(next(rows))
    return next((rows.line_num for row in rows if len(row) > width), None)


def coded(values: Sequence[str], index: Mapping[str, int]) -> NDArray[np.int64]:
    """Return each value's code, shape (N,), -1 where it has none.

    >>> coded(["b", "x"], {"a": 0, "b": 1})
    array([ 1, -1])
    """
    return np.fromiter((index.get(value, -1) for value in values), np.int64, len(values))
