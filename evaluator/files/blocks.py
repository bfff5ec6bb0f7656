"""Reads a submission in blocks of whole lines, so that several threads can read and score it with compiled kernels."""

import io
from collections.abc import Generator
from pathlib import Path
from threading import Lock
from types import TracebackType

from evaluator.catalog import Limits
from evaluator.files.lines import CHUNK_BYTES, UTF8_BOM, chunks, is_gzip
from evaluator.problems import Findings, Stop
from evaluator.report import ReferenceNeeded

# Buffers for submission files need extra space, because kernels read up to 96 bytes beyond the last line.
SLACK_BYTES = 128
BLANKS = b" \t\r\n"
LOOK_BACK_BYTES = 4096
# The header is read in parts of this size, because it is usually short.
HEADER_BYTES = 1 << 16


class Declined(Exception):
    """Raised, with a reason, if the compiled kernels cannot score a file. All threads then stop reading the file."""

    def __init__(self, reason: ReferenceNeeded) -> None:
        super().__init__(reason)
        self.reason = reason


class Blocks:
    """A plain or gzipped file that is read in blocks of whole lines.

    Parameters
    ----------
    path : Path
    limits : Limits

    Attributes
    ----------
    fraction : float
        Fraction of the file that has been read.

    Raises
    ------
    Declined
        Raised by :meth:`header` if there is no readable header line, and while reading if a gzip file is damaged or a
        line is too long.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self.limits = limits
        self.fraction = 0.0
        self.size = max(path.stat().st_size, 1)
        self.lock = Lock()
        self.file = path.open("rb", buffering=0)
        self.inflated = _Inflated(chunks(path, limits, Findings(), self._note)) if is_gzip(path) else None
        self.rest = b""
        self.taken = 0
        self.closed = False

    def __enter__(self) -> "Blocks":
        """Return the reader itself. The file is closed at the end of the ``with`` statement."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the submission file at the end of the ``with`` statement."""
        self.close()

    def close(self) -> None:
        """Close the file. Afterwards, :meth:`take` returns None."""
        with self.lock:
            self.closed = True
            self.file.close()
            if self.inflated:
                self.inflated.parts.close()

    def _note(self, fraction: float) -> None:
        self.fraction = fraction

    def header(self) -> str:
        """Return the first line of the file. This method must be called once, before the first call of :meth:`take`."""
        start, part = b"", bytearray(HEADER_BYTES)
        while len(start) < CHUNK_BYTES and b"\n" not in start:
            count = self._read(memoryview(part)[: CHUNK_BYTES - len(start)])
            if count == 0:
                break
            start += part[:count]
        line, newline, self.rest = start.removeprefix(UTF8_BOM).partition(b"\n")
        if not newline and len(start) == CHUNK_BYTES:
            raise Declined(ReferenceNeeded.ENDLESS_HEADER)
        try:
            return line.removesuffix(b"\r").decode()
        except UnicodeDecodeError:
            raise Declined(ReferenceNeeded.UNDECODABLE_HEADER) from None

    def take(self, buffer: bytearray) -> tuple[int, int] | None:
        """Fill ``buffer`` with the next block of lines. Return the number of the block, counted from 1, and its length.

        Return None at the end of the file. The last line of a block always ends with a line feed. If a line is longer
        than the buffer, the buffer grows. Blank lines at the end of the file are omitted. :func:`new_buffer` returns a
        suitable buffer.
        """
        with self.lock:
            stop = 0 if self.closed else self._fill(buffer)
            self.taken += 1
            return (self.taken, stop) if stop else None

    def _fill(self, buffer: bytearray) -> int:
        """Fill ``buffer`` with the next lines, and return the offset of their end, or 0 at the end of the file."""
        size = len(self.rest)
        _reserve(buffer, size + CHUNK_BYTES)
        buffer[:size] = self.rest
        while True:
            with memoryview(buffer) as view:
                count = self._read(view[size : size + CHUNK_BYTES])
            if count == 0:
                self.rest = b""
                return _end_of_last_line(buffer, size)
            if buffer.find(b"\n", 0, size + count) > self.limits.line_bytes:
                raise Declined(ReferenceNeeded.LONG_LINE)
            size += count
            end = _end_of_lines(buffer, size)
            if end:
                self.rest = bytes(memoryview(buffer)[end:size])
                return end
            if size > self.limits.line_bytes:
                raise Declined(ReferenceNeeded.LONG_LINE)
            _reserve(buffer, 2 * size + CHUNK_BYTES)

    def _read(self, view: memoryview) -> int:
        if self.inflated is None:
            self.fraction = min(self.file.tell() / self.size, 1.0)
            return self.file.readinto(view)
        try:
            return self.inflated.read_into(view)
        except Stop:
            raise Declined(ReferenceNeeded.DAMAGED_GZIP) from None


class _Inflated:
    """A stream of decompressed chunks that can be read into a buffer like a file."""

    def __init__(self, parts: Generator[bytes, None, None]) -> None:
        self.parts = parts
        self.part = io.BytesIO()

    def read_into(self, view: memoryview) -> int:
        """Fill the buffer with the next bytes, and return their number, which is 0 only at the end of the stream."""
        while (count := self.part.readinto(view)) == 0:
            part = next(self.parts, None)
            if part is None:
                return 0
            self.part = io.BytesIO(part)
        return count


def new_buffer() -> bytearray:
    """Return a buffer for :meth:`Blocks.take` that need not grow unless lines are very long."""
    return bytearray(CHUNK_BYTES + HEADER_BYTES + SLACK_BYTES)


def _reserve(buffer: bytearray, size: int) -> None:
    missing = size + SLACK_BYTES - len(buffer)
    if missing > 0:
        buffer.extend(bytes(missing))


def _end_of_lines(buffer: bytearray, size: int) -> int:
    """Return the offset after the last complete line that is not blank, or 0 if there is no such line.

    Blank lines after this line are left for the next block, because they may be at the end of the file. If the last
    :data:`LOOK_BACK_BYTES` bytes are blank, the result is the offset after the last complete line.
    """
    newline = buffer.rfind(b"\n", 0, size)
    start = max(newline - LOOK_BACK_BYTES, 0)
    written = len(buffer[start:newline].rstrip(BLANKS)) if newline >= 0 else 0
    if not written:
        return newline + 1 if start else 0
    return buffer.find(b"\n", start + written) + 1


def _end_of_last_line(buffer: bytearray, size: int) -> int:
    """Return the offset after the last line that is not blank. If this line has no line feed, add one.

    If the last :data:`LOOK_BACK_BYTES` bytes are blank, earlier blank lines are kept.
    """
    start = max(size - LOOK_BACK_BYTES, 0)
    written = len(buffer[start:size].rstrip(BLANKS))
    if not written and not start:
        return 0
    newline = buffer.find(b"\n", start + written, size)
    if newline >= 0:
        return newline + 1
    buffer[size : size + 1] = b"\n"
    return size + 1
