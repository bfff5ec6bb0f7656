"""Distinguishes small files, which are scored earlier, from large ones."""

import zlib

from django.conf import settings
from django.core.files import File

GZIP, GZIP_WINDOW = b"\x1f\x8b", 31


def is_small(file: "File[bytes]") -> bool:
    """Return whether a file has at most SMALL_FILE_MAX_BYTES after decompression.

    Decompression stops after this number of bytes. An unusual gzip file (damaged, with several members, or with bytes
    after its end) counts as large, which only makes it wait longer.
    """
    limit = settings.SMALL_FILE_MAX_BYTES
    if file.size > limit:
        return False
    file.seek(0)
    content = file.read(limit)
    file.seek(0)
    if not content.startswith(GZIP):
        return True
    member = zlib.decompressobj(GZIP_WINDOW)
    try:
        unpacked = member.decompress(content, limit + 1)
    except zlib.error:
        return False
    return member.eof and not member.unused_data and len(unpacked) <= limit
