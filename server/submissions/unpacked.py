"""How large a file is when it is unpacked, as far as that matters for whose turn it is."""

import zlib

from django.conf import settings
from django.core.files import File

GZIP, GZIP_WINDOW = b"\x1f\x8b", 31


def is_small(file: "File[bytes]") -> bool:
    """Tell whether it has at most SMALL_FILE_MAX_BYTES unpacked; no more than that is unpacked here.

    Anything unusual in a gzip file (damage, several members, bytes after its end) makes it large: it only waits longer.
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
