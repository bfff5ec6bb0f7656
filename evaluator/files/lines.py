"""Reads a submission as numbered lines. This includes decompression, decoding, line endings and size limits."""

import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path

from evaluator.catalog import Limits
from evaluator.files.source import ReadProgress
from evaluator.problems import Findings, Problem, Stop

CHUNK_BYTES = 1 << 20
# Batches are small, because a whole batch is decoded even if reading stops at one of its first lines.
BATCH_BYTES = 1 << 16
# Compressed data is read in small parts. After each gzip member, zlib copies the rest of the part. With large parts, a
# file with many gzip members would take too long to read.
FED_BYTES = 1 << 16
# The compression ratio of a gzip file is checked only if its decompressed size exceeds this number of bytes, because
# valid small files may compress well.
RATIO_COUNTS_FROM_BYTES = 1 << 20
SIGNATURE_BYTES = 64
GZIP_MAGIC = b"\x1f\x8b"
FOREIGN_SIGNATURES = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"PK\x05\x06": "an empty zip archive",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"\x80\x02": "a Python pickle",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"PAR1": "a Parquet file",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"Rar!": "a RAR archive",
    GZIP_MAGIC: "a file gzipped twice",
}
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")

# A line of a file, or the defect of a line that cannot be decoded.
Line = str | Problem
# Consecutive lines of a file, or the number of lines if all of them are blank.
Lines = Iterable[Line] | int
BLANKS = b" \t\n"


def is_gzip(path: Path) -> bool:
    """Return whether a file begins like a gzip file."""
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def chunks(path: Path, limits: Limits, findings: Findings, progress: ReadProgress) -> Generator[bytes, None, None]:
    """Yield the decompressed bytes of a file in chunks of about :data:`CHUNK_BYTES`.

    Raises
    ------
    Stop
        After a ``bad_gzip`` or ``too_large`` defect.
    """
    size = max(path.stat().st_size, 1)
    with path.open("rb") as file:

        def read() -> bytes:
            data = file.read(CHUNK_BYTES)
            progress(min(file.tell() / size, 1.0))
            return data

        is_zipped = is_gzip(path)
        yield from _joined(_decompressed(read, file.tell, limits, findings)) if is_zipped else iter(read, b"")


def sound_chunks(
    path: Path, limits: Limits, findings: Findings, progress: ReadProgress
) -> Generator[bytes, None, None]:
    """Yield the same chunks as :func:`chunks`, but none if a gzip file is damaged or too large.

    The file is decompressed twice. Reading its lines takes far longer, and a small file can contain a gigabyte of them.
    """
    if is_gzip(path):
        for _ in chunks(path, limits, findings, lambda fraction: None):
            pass
    yield from chunks(path, limits, findings, progress)


def _joined(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Join parts of decompressed data into chunks of at least :data:`CHUNK_BYTES`. The last chunk may be shorter."""
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= CHUNK_BYTES:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _decompressed(
    read: Callable[[], bytes], tell: Callable[[], int], limits: Limits, findings: Findings
) -> Iterator[bytes]:
    fed = _fed(read)
    stream, total, members = zlib.decompressobj(wbits=31), 0, 0
    pending, in_member, full = next(fed, b""), False, False
    while pending or full:
        try:
            data = stream.decompress(pending, CHUNK_BYTES)
        except zlib.error as error:
            raise _stop(findings, "bad_gzip", f"the gzip file is damaged ({error}); compress it again") from None
        in_member, full = not stream.eof, len(data) == CHUNK_BYTES and not stream.eof
        total += len(data)
        _check_size(total, tell(), limits, findings)
        if data:
            yield data
        pending = stream.unconsumed_tail
        if stream.eof:  # Another gzip member may follow. Zeros between two members are padding.
            members += 1
            _check_members(members, total, limits, findings)
            pending = stream.unused_data.lstrip(b"\0") or next(filter(None, (part.lstrip(b"\0") for part in fed)), b"")
            stream = zlib.decompressobj(wbits=31)
        elif not full:
            pending = pending or next(fed, b"")
    if in_member:
        raise _stop(findings, "bad_gzip", "the gzip file is incomplete; compress it again")


def _fed(read: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield the content of a file in parts of at most :data:`FED_BYTES`."""
    for data in iter(read, b""):
        for start in range(0, len(data), FED_BYTES):
            yield data[start : start + FED_BYTES]


def _check_size(total: int, compressed: int, limits: Limits, findings: Findings) -> None:
    if total > limits.decompressed_bytes:
        raise _stop(findings, "too_large", f"the decompressed file has more than {limits.decompressed_bytes:,} bytes")
    if total > RATIO_COUNTS_FROM_BYTES and total > compressed * limits.decompressed_ratio:
        raise _stop(
            findings,
            "too_large",
            f"the decompressed file is more than {limits.decompressed_ratio} times as large as the compressed file",
        )


def _check_members(members: int, total: int, limits: Limits, findings: Findings) -> None:
    if members > limits.gzip_members and total < members * limits.gzip_member_bytes:
        members_found = (
            f"more than {limits.gzip_members:,} members of less than {limits.gzip_member_bytes:,} bytes on average"
        )
        raise _stop(findings, "bad_gzip", f"the gzip file has {members_found}; compress the file again as a whole")


def _stop(findings: Findings, code: str, message: str, line: int | None = None) -> Stop:
    findings.add(Problem(code, message, line=line))
    return Stop(code)


def batches(path: Path, limits: Limits, findings: Findings, progress: ReadProgress) -> Iterator[tuple[int, Lines]]:
    r"""Yield the lines of a file in batches. Each batch is a pair: the line number of its first line, and its lines.

    If all lines of a batch are blank, the pair can contain the number of lines instead of the lines. The line endings
    ``\n``, ``\r\n`` and ``\r`` and a UTF-8 byte order mark are removed. A line that cannot be decoded is replaced by
    its defect (``encoding`` or ``bad_byte``). The lines and their defects do not depend on the batch size.

    Raises
    ------
    Stop
        After a defect that makes the rest of the file unreadable. The findings contain this defect.
    """
    number = 1
    unfinished: list[bytes] = []  # Parts of a line whose end has not been read yet.
    for part in _with_line_feeds(text_parts(sound_chunks(path, limits, findings, progress), findings, "CSV")):
        complete, end, rest = part.rpartition(b"\n")
        if end:
            for piece in _pieces(b"".join([*unfinished, complete])):
                yield from _text(number, piece, limits, findings)
                number += piece.count(b"\n") + 1
            unfinished = []
        unfinished.append(rest)
        if sum(map(len, unfinished)) > limits.line_bytes:
            raise _too_long(findings, limits, number)
    if any(unfinished):
        yield from _text(number, b"".join(unfinished), limits, findings)


def _with_line_feeds(parts: Iterator[bytes]) -> Iterator[bytes]:
    r"""Yield the parts of a file with every line ending replaced by ``\n``."""
    # If a part ends with \r, this byte is held back, because the next part may begin with the \n of the same line
    # ending.
    held = b""
    for part in parts:
        data = held + part
        held = b"\r" if data.endswith(b"\r") else b""
        yield data[: len(data) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if held:
        yield b"\n"


def _pieces(lines: bytes) -> Iterator[bytes]:
    """Split a string of whole lines, and yield pieces of about :data:`BATCH_BYTES`."""
    start, stop = 0, lines.find(b"\n", BATCH_BYTES)
    while stop >= 0:
        yield lines[start:stop]
        start, stop = stop + 1, lines.find(b"\n", stop + 1 + BATCH_BYTES)
    yield lines[start:]


def text_parts(parts: Iterator[bytes], findings: Findings, expected: str) -> Iterator[bytes]:
    """Yield the parts of a text file without the byte order mark. Files in other formats are rejected.

    Raises
    ------
    Stop
        If the file starts with the signature of another format, or is UTF-16. A ``not_csv`` defect (``bad_json`` if
        ``expected`` is JSON) or an ``encoding`` defect is recorded first.
    """
    data = b""
    while len(data) < SIGNATURE_BYTES and (part := next(parts, b"")):
        data += part
    for magic, name in FOREIGN_SIGNATURES.items():
        if data.startswith(magic):
            code = "bad_json" if expected == "JSON" else "not_csv"
            raise _stop(findings, code, f"this is {name}, not a {expected} file")
    first = data[:SIGNATURE_BYTES]
    if data.startswith(UTF16_BOMS) or (len(data) > 1 and any(first[::2]) != any(first[1::2])):
        raise _stop(findings, "encoding", "the file is UTF-16; save it as UTF-8", 1)
    yield data.removeprefix(UTF8_BOM)
    yield from parts


def _text(number: int, piece: bytes, limits: Limits, findings: Findings) -> Iterator[tuple[int, Lines]]:
    """Yield the lines of a part of a file in batches; see :func:`batches`. Raise Stop at a line that is too long."""
    if len(piece) <= limits.line_bytes:
        yield from _without_blank_lines(number, piece)
        return
    lines = piece.split(b"\n")
    long = next((index for index, line in enumerate(lines) if len(line) > limits.line_bytes), None)
    yield number, _decoded(number, b"\n".join(lines[:long])) if long != 0 else []
    if long is not None:
        raise _too_long(findings, limits, number + long)


def _without_blank_lines(number: int, piece: bytes) -> Iterator[tuple[int, Lines]]:
    """Yield the lines of a part of a file in batches; see :func:`batches`.

    Blank lines at the start and at the end of the part form separate batches, which contain only their number.
    """
    written = piece.lstrip(BLANKS)
    if not written:
        yield number, piece.count(b"\n") + 1
        return
    start = piece.rfind(b"\n", 0, len(piece) - len(written)) + 1
    stop = piece.find(b"\n", len(piece.rstrip(BLANKS)))
    before = piece.count(b"\n", 0, start)
    if before:
        yield number, before
    lines = piece[start : stop if stop >= 0 else None]
    yield number + before, _decoded(number + before, lines)
    if stop >= 0:
        yield number + before + lines.count(b"\n") + 1, piece.count(b"\n", stop)


def _decoded(number: int, piece: bytes) -> Iterable[Line]:
    if b"\0" not in piece:
        try:
            return [*piece.decode("utf-8").split("\n")]
        except UnicodeDecodeError:
            pass  # If the lines are not valid UTF-8, they are decoded one by one to find the invalid ones.
    return (_decoded_line(each, line) for each, line in enumerate(piece.split(b"\n"), number))


def _decoded_line(number: int, line: bytes) -> Line:
    if b"\0" in line:
        return Problem("bad_byte", "this line contains a NUL byte; the file is damaged or not text", line=number)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return Problem("encoding", f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", line=number)


def _too_long(findings: Findings, limits: Limits, number: int) -> Stop:
    return _stop(findings, "line_too_long", f"the line has more than {limits.line_bytes:,} bytes", number)
