"""Bytes of a submission as numbered lines: gzip, encoding and line ends, within limits."""

import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

from evaluator.catalog import Limits
from evaluator.problems import Findings, Problem

CHUNK_BYTES = 1 << 20
RATIO_COUNTS_FROM_BYTES = 1 << 20  # a short file of repeated words compresses well and harms nobody
RECOGNISED_BYTES = 64
GZIP_MAGIC = b"\x1f\x8b"
FOREIGN_MAGIC = {
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

Progress = Callable[[float], None]
Line = str | Problem  # what stands there, or why that is no text


class Stop(Exception):
    """The rest of the file will not be read; why is in the findings."""


def chunks(path: Path, limits: Limits, findings: Findings, progress: Progress) -> Generator[bytes, None, None]:
    """Yield the decompressed bytes of a file, at most :data:`CHUNK_BYTES` at a time.

    Raises
    ------
    Stop
        After a ``bad_gzip`` or ``too_large`` defect.
    """
    size = max(path.stat().st_size, 1)
    with path.open("rb") as file:
        zipped = file.read(2) == GZIP_MAGIC
        file.seek(0)

        def read() -> bytes:
            data = file.read(CHUNK_BYTES)
            progress(min(file.tell() / size, 1.0))
            return data

        yield from _decompressed(read, file.tell, limits, findings) if zipped else iter(read, b"")


def _decompressed(
    read: Callable[[], bytes], tell: Callable[[], int], limits: Limits, findings: Findings
) -> Iterator[bytes]:
    stream, total = zlib.decompressobj(wbits=31), 0
    pending, begun, full = read(), False, False
    while pending or full:
        try:
            data = stream.decompress(pending, CHUNK_BYTES)
        except zlib.error as error:
            raise _stop(findings, "bad_gzip", f"the gzip file is damaged ({error}); compress it again") from None
        begun, full = not stream.eof, len(data) == CHUNK_BYTES and not stream.eof
        total += len(data)
        _bound(total, tell(), limits, findings)
        if data:
            yield data
        pending = stream.unconsumed_tail
        if stream.eof:  # another member may follow; zeros are padding
            pending = stream.unused_data.lstrip(b"\0") or read().lstrip(b"\0")
            stream = zlib.decompressobj(wbits=31)
        elif not full:
            pending = pending or read()
    if begun:
        raise _stop(findings, "bad_gzip", "the gzip file ends in the middle; it was cut off, upload it again")


def _bound(total: int, compressed: int, limits: Limits, findings: Findings) -> None:
    if total > limits.decompressed_bytes:
        raise _stop(findings, "too_large", f"decompressed it is over {limits.decompressed_bytes:,} bytes")
    if total > RATIO_COUNTS_FROM_BYTES and total > compressed * limits.decompressed_ratio:
        raise _stop(findings, "too_large", f"it decompresses to more than {limits.decompressed_ratio} times its size")


def _stop(findings: Findings, code: str, message: str, line: int | None = None) -> Stop:
    findings.add(Problem(code, message, line=line))
    return Stop(code)


def batches(path: Path, limits: Limits, findings: Findings, progress: Progress) -> Iterator[tuple[int, list[Line]]]:
    r"""Yield (number of the first line, lines) without line ends.

    Where a batch ends changes no line and no defect. Lines end with ``\n``, ``\r\n`` or ``\r``. A line that cannot be
    text is its defect (``encoding``, ``bad_byte``). A UTF-8 byte order mark is dropped.

    Raises
    ------
    Stop
        After a defect that makes the rest unreadable; it is in the findings.
    """
    number, rest = 1, b""
    for data in opened(chunks(path, limits, findings, progress), findings, "CSV"):
        data = rest + data
        held = data[-1:] == b"\r"  # its \n may be in the next chunk
        complete, end, rest = data[: len(data) - held].replace(b"\r\n", b"\n").replace(b"\r", b"\n").rpartition(b"\n")
        if end:
            lines = complete.split(b"\n")
            yield from _text(number, lines, limits, findings)
            number += len(lines)
        if len(rest) > limits.line_bytes:
            raise _too_long(findings, limits, number)
        rest += b"\r" * held
    if rest:
        yield from _text(number, [rest.removesuffix(b"\r")], limits, findings)


def opened(parts: Iterator[bytes], findings: Findings, wanted: str) -> Iterator[bytes]:
    """Yield the parts behind the byte order mark, once the first bytes have been looked at: other formats are named.

    Raises
    ------
    Stop
        After ``not_csv`` (where JSON is ``wanted``: ``bad_json``) or ``encoding``.
    """
    data = b""
    while len(data) < RECOGNISED_BYTES and (part := next(parts, b"")):
        data += part
    for magic, name in FOREIGN_MAGIC.items():
        if data.startswith(magic):
            code = "bad_json" if wanted == "JSON" else "not_csv"
            raise _stop(findings, code, f"this is {name}, not a {wanted} file")
    first = data[:RECOGNISED_BYTES]
    if data.startswith(UTF16_BOMS) or (len(data) > 1 and any(first[::2]) != any(first[1::2])):
        raise _stop(findings, "encoding", "the file is UTF-16; save it as UTF-8", 1)
    yield data.removeprefix(UTF8_BOM)
    yield from parts


def _text(number: int, lines: list[bytes], limits: Limits, findings: Findings) -> Iterator[tuple[int, list[Line]]]:
    """Yield the lines up to one that is too long."""
    long = next((place for place, line in enumerate(lines) if len(line) > limits.line_bytes), None)
    yield number, _decoded(number, lines[:long])
    if long is not None:
        raise _too_long(findings, limits, number + long)


def _decoded(number: int, lines: list[bytes]) -> list[Line]:
    whole = b"\n".join(lines)
    if b"\0" not in whole:
        try:
            return [*whole.decode("utf-8").split("\n")]
        except UnicodeDecodeError:
            pass  # find the line below
    return [_decoded_line(number + place, line) for place, line in enumerate(lines)]


def _decoded_line(number: int, line: bytes) -> Line:
    if b"\0" in line:
        return Problem("bad_byte", "a NUL byte; the file is damaged or not text", line=number)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return Problem("encoding", f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", line=number)


def _too_long(findings: Findings, limits: Limits, number: int) -> Stop:
    return _stop(findings, "line_too_long", f"the line is over {limits.line_bytes:,} bytes", number)
