"""Bytes of a submission as numbered lines: gzip, encoding and line ends, within limits."""

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from evaluator.catalog import Limits
from evaluator.problems import Findings, Problem

CHUNK_BYTES = 1 << 20
RATIO_COUNTS_FROM_BYTES = 1 << 20  # a short file of repeated words compresses well and harms nobody
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
Line = str | None


class Stop(Exception):
    """The rest of the file will not be read; why is in the findings."""


def chunks(path: Path, limits: Limits, findings: Findings, progress: Progress) -> Iterator[bytes]:
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

    Lines end with ``\n``, ``\r\n`` or ``\r``. A line that cannot be text is None; its defect
    (``encoding``, ``bad_byte``) is in the findings. A UTF-8 byte order mark is dropped.

    Raises
    ------
    Stop
        After a defect that makes the rest unreadable.
    """
    number, rest, first = 1, b"", True
    for data in chunks(path, limits, findings, progress):
        if first:
            data, first = _opened(data, findings), False
        data = rest + data
        held = data[-1:] == b"\r"  # its \n may be in the next chunk
        complete, end, rest = data[: len(data) - held].replace(b"\r\n", b"\n").replace(b"\r", b"\n").rpartition(b"\n")
        rest += b"\r" * held
        if end:
            lines = complete.split(b"\n")
            yield number, _decoded(number, lines, limits, findings)
            number += len(lines)
        if len(rest) > limits.line_bytes:
            raise _stop(findings, "line_too_long", f"the line is over {limits.line_bytes:,} bytes", number)
    if rest:
        lines = rest.removesuffix(b"\r").split(b"\n")
        yield number, _decoded(number, lines, limits, findings)


def _opened(data: bytes, findings: Findings) -> bytes:
    """Look at the first bytes: other formats are named, a byte order mark is dropped."""
    for magic, name in FOREIGN_MAGIC.items():
        if data.startswith(magic):
            raise _stop(findings, "not_csv", f"this is {name}, not a CSV file")
    if data.startswith(UTF16_BOMS) or (len(data) > 1 and any(data[:64:2]) != any(data[1:64:2])):
        raise _stop(findings, "encoding", "the file is UTF-16; save it as UTF-8", 1)
    return data.removeprefix(UTF8_BOM)


def _decoded(number: int, lines: list[bytes], limits: Limits, findings: Findings) -> list[Line]:
    whole = b"\n".join(lines)
    if b"\0" not in whole and len(whole) <= limits.line_bytes:
        try:
            return [*whole.decode("utf-8").split("\n")]
        except UnicodeDecodeError:
            pass  # find the line below
    return [_decoded_line(number + place, line, limits, findings) for place, line in enumerate(lines)]


def _decoded_line(number: int, line: bytes, limits: Limits, findings: Findings) -> Line:
    if len(line) > limits.line_bytes:
        raise _stop(findings, "line_too_long", f"the line is over {limits.line_bytes:,} bytes", number)
    if b"\0" in line:
        findings.add(Problem("bad_byte", "a NUL byte; the file is damaged or not text", line=number))
        return None
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        findings.add(Problem("encoding", f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", line=number))
        return None
