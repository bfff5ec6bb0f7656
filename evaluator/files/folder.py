"""Reads a ground truth folder and computes its SHA-256 hash."""

import csv
import gzip
import io
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Container, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluator import salt
from evaluator.catalog import Limits, Track
from evaluator.files.cells import shortened
from evaluator.files.documents import parse_truth_json
from evaluator.files.faults import Faults
from evaluator.files.regular import NotRegular, read_regular

if TYPE_CHECKING:
    from evaluator.files.tables import TruthTable

GZIPPED = b"\x1f\x8b"
# The decompressed size of a gzip file is limited to a multiple of its compressed size. Compressed sizes below this
# number of bytes are rounded up to it, because small files may compress well.
COMPRESSED_BYTES = 2**20
HEADERS = ("label", "labels", "id", "ids", "labelid", "classid", "class", "classes", "mid", "relation", "name")


class TruthFolder:
    """A ground truth folder, with the contents of its files in memory. The files have fixed names and may be gzipped.

    Parameters
    ----------
    path : Path
    track : Track
        Declares the files of the folder and their columns.
    replaced : mapping of file name to bytes
        Contents to use instead of the files ``usage.csv`` and ``salt.txt`` in the folder. They may be gzipped.
    hidden : bool
        Whether the ground truth must be kept secret from participants. If true, it is a fault if public data, such as
        ids, reveals answers.

    Attributes
    ----------
    salt : bytes
        The 16 secret bytes that ``salt.txt`` encodes; empty without that file.

    Raises
    ------
    InvalidTruth
        If files are missing (fault ``truth_missing_file``) or damaged (fault ``truth_bad_value``).
    """

    def __init__(
        self, path: Path, track: Track, replaced: Mapping[str, bytes] = MappingProxyType({}), *, hidden: bool = False
    ) -> None:
        self.track = track
        self.hidden = hidden
        self.faults = Faults()
        if not path.is_dir():
            self.faults.add("truth_missing_file", path.name, "there is no such folder")
            self.faults.check()
        self.contents: dict[str, bytes] = {}
        for declared in track.truth_files:
            self._load(path, declared.name)
        for missing in track.missing(lambda name: name in self):
            message = f"{missing.name} is missing from the truth folder"
            self.faults.add("truth_missing_file", missing.name, message)
        self.contents.update({name: self._plain(name, content) for name, content in replaced.items()})
        self.salt = self._salt()
        self.faults.check()

    def _load(self, folder: Path, name: str) -> None:
        """Load the content of a file or, if the name ends with a slash, of every file in this subfolder."""
        if not name.endswith("/"):
            content = self._content(folder, name)
            if content is not None:
                self.contents[name] = content
        elif (folder / name).is_symlink():
            self.faults.add(
                "truth_unsafe_path", name, "is a symbolic link; put the folder itself into the truth folder"
            )
        elif (folder / name).is_dir():
            for inner in {path.name.removesuffix(".gz") for path in (folder / name).iterdir() if not path.is_dir()}:
                self._load(folder, name + inner)

    def _content(self, folder: Path, name: str) -> bytes | None:
        plain, zipped = self._read(folder, name), self._read(folder, f"{name}.gz")
        if plain is not None and zipped is not None:
            self.faults.add("truth_bad_value", name, f"there are both {name} and {name}.gz; keep one of them")
        if plain is not None:
            return self._plain(name, plain)
        return None if zipped is None else self._unpacked(name, zipped)

    def _plain(self, name: str, content: bytes) -> bytes:
        """Return the content of a file, decompressed if it is gzipped."""
        return self._unpacked(name, content) if content.startswith(GZIPPED) else content

    def _unpacked(self, name: str, packed: bytes) -> bytes:
        """Return the decompressed content of a gzip file. If it is damaged or too large, report a fault."""
        limits = Limits()
        allowed = min(limits.decompressed_bytes, max(len(packed), COMPRESSED_BYTES) * limits.decompressed_ratio)
        try:
            with gzip.open(io.BytesIO(packed)) as file:
                content = file.read(allowed + 1)
        except (OSError, EOFError, zlib.error):
            self.faults.add("truth_bad_value", name, "the gzip file is damaged")
            return b""
        if len(content) > allowed:
            message = f"has more than {allowed:,} bytes when decompressed; do not compress the file"
            self.faults.add("truth_too_large", name, message)
            return b""
        return content

    def _read(self, folder: Path, name: str) -> bytes | None:
        """Return the content of a regular file, or None if it is missing. Symbolic links are reported as faults."""
        try:
            return read_regular(folder, name)
        except NotRegular as error:
            self.faults.add("truth_unsafe_path", name, str(error))
        except OSError as error:
            self.faults.add("truth_bad_value", name, f"cannot be read: {error.strerror}")
        return b""

    def _salt(self) -> bytes:
        if salt.NAME not in self.contents:
            return b""
        key = salt.parse(self.contents[salt.NAME])
        if key is None:
            message = (
                "must be one line of 32 hexadecimal digits: write 16 random bytes in this form, or remove the file"
            )
            self.faults.add("truth_bad_value", salt.NAME, message, line=1)
        elif len(set(key)) == 1:
            self.faults.warn("truth_weak_salt", salt.NAME, "is easy to guess; write 16 random bytes", line=1)
        return key or b""

    @property
    def sha256(self) -> str:
        """The SHA-256 hash that identifies the ground truth. It covers the names and the contents of all files."""
        lines = (f"{name} {sha256(content).hexdigest()}\n" for name, content in sorted(self.contents.items()))
        return sha256("".join(lines).encode()).hexdigest()

    def __contains__(self, name: str) -> bool:
        """Return whether the folder has a file with this name, or a subfolder with this name that contains a file."""
        return name in self.contents or (name.endswith("/") and any(each.startswith(name) for each in self.contents))

    def text(self, name: str) -> str:
        """Return the content of a file as a string.

        Raises
        ------
        InvalidTruth
        """
        content = self.contents[name]
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            self.faults.add("truth_bad_value", name, _not_text(content), line=line)
            raise self.faults.error from None
        if "\0" in text:
            line = content.count(b"\n", 0, content.index(b"\0")) + 1
            self.faults.add("truth_bad_value", name, "contains a NUL character; save the file as UTF-8 text", line=line)
            raise self.faults.error
        return text

    def table(self, name: str) -> "TruthTable":
        """Read a CSV file with a header. Column names are case-insensitive, and unknown columns are ignored."""
        declared = next(file for file in self.track.truth_files if file.name == name)
        table: TruthTable = import_module("evaluator.files.tables").read_truth_table(
            self.text(name), declared, self.faults
        )
        return table

    def names(self, name: str, allowed: Container[str] | None = None, expected: str = "") -> dict[str, str]:
        """Read a headerless CSV file of ``label,display name`` rows. Return a dict that maps labels to display names.

        The display name is optional. If ``allowed`` is given, all other labels are reported as faults. The message of
        these faults consists of the label and ``expected``.
        """
        found: dict[str, str] = {}
        labels: dict[str, str] = {}
        for line, row in enumerate(csv.reader(io.StringIO(self.text(name), newline="")), 1):
            label = row[0].strip() if row else ""
            if not label or (line == 1 and label.lower() in ("labelname", "relationshiplabel")):
                continue
            if label in found:
                self.faults.add("truth_bad_value", name, f"{shortened(label)} is listed twice", line=line)
            if allowed is not None and label not in allowed:
                self.faults.add("truth_unknown_label", name, f"{shortened(label)} {expected}", line=line)
            found[label] = ",".join(row[1:]).strip() or label
            self._warn_of_name(name, label, found[label], labels.setdefault(found[label].lower(), label), line)
        return found

    def _warn_of_name(self, file: str, label: str, shown: str, first: str, line: int) -> None:
        """Warn if a row is probably a header, or if two labels have the same display name."""
        if line == 1 and label.lower().replace("_", "").replace(" ", "") in HEADERS:
            message = f"{shortened(label)} is read as a label; if this line is a header, remove it"
            self.faults.warn("truth_header", file, message, line=line)
        if first != label:
            message = f"{shortened(shown)} is also the name of {shortened(first)}, so reports cannot distinguish them"
            self.faults.warn("truth_same_name", file, message, line=line)

    def json(self, name: str) -> Any:
        """Read a JSON file of the ground truth folder, and return its value.

        Raises
        ------
        InvalidTruth
        """
        text = self.text(name)
        try:
            value, repeated = parse_truth_json(text)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            self.faults.add("truth_bad_value", name, f"not JSON: {error}", line=line)
            raise self.faults.error from None
        for path in repeated:
            self.faults.add("truth_bad_value", name, f"{path} occurs twice in the same object", column=path)
        return value


def coded(values: Sequence[str], index: Mapping[str, int]) -> NDArray[np.int64]:
    """Look up the code (an integer) of each value in ``index``, and return an array of shape (N,).

    Unknown values get the code -1.

    >>> coded(["b", "x"], {"a": 0, "b": 1})
    array([ 1, -1])
    """
    return np.fromiter((index.get(value, -1) for value in values), np.int64, len(values))


def _not_text(content: bytes) -> str:
    """Return the end of an error message about a file that is not UTF-8: its likely format, and how to fix it.

    >>> _not_text(bytes([0x50, 0x4B, 3, 4, 0xFF]))
    'is an Excel workbook or a zip file; save it as CSV (UTF-8)'
    """
    if content.startswith(b"PK\x03\x04"):
        return "is an Excel workbook or a zip file; save it as CSV (UTF-8)"
    kind = "UTF-16, not UTF-8" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "not UTF-8"
    return f"is {kind}; save the file as UTF-8"
