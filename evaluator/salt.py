"""Defines the salt of a ground truth, a secret from which the public split and the bootstrap draws are derived.

A ground truth folder may contain the file ``salt.txt``, one line of 32 hexadecimal digits. The 16 bytes that they
encode are a key for HMAC-SHA256 (RFC 2104). Without this key, nobody can compute the split or the draws. The SHA-256
hash of the folder also covers the salt, so the hash cannot be used to confirm a guess of the ground truth.
"""

import csv
import hmac
import io
import re
from collections.abc import Iterable
from hashlib import sha256

NAME = "salt.txt"
_LINE = re.compile(rb"([0-9A-Fa-f]{32})(?:\r?\n)?")


def parse(content: bytes) -> bytes | None:
    r"""Return the 16 bytes that ``salt.txt`` encodes, or None if it is not one line of 32 hexadecimal digits.

    >>> parse(b"000102030405060708090A0b0c0d0e0f\n")
    b'\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f'
    >>> parse(b"secret")
    """
    found = _LINE.fullmatch(content)
    return bytes.fromhex(found[1].decode()) if found else None


def image_fraction(salt: bytes, seed: int, image: str) -> float:
    """Return a number in [0, 1) for an image. The image is public if this number is below the public fraction.

    The number is the first 8 bytes of HMAC-SHA256(salt, image), as a big-endian integer, divided by 2**64. The salt is
    the secret key. The image id is encoded in UTF-8. If the salt is empty, the number is computed from the SHA-256 hash
    of ``SEED:IMAGE`` instead, with the seed as a decimal number. Otherwise, the seed has no effect.

    >>> round(image_fraction(bytes(16), 7, "a"), 6), round(image_fraction(b"", 7, "a"), 6)
    (0.586268, 0.511136)
    """
    digest = hmac.digest(salt, image.encode(), sha256) if salt else sha256(f"{seed}:{image}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def replicate_entropy(salt: bytes, split: int, seed: int, number: int) -> int:
    r"""Return the 256 bits that seed the random generator of one bootstrap replicate.

    The result is HMAC-SHA256(salt, message) as a big-endian integer. The message is ``"\0replicate:SPLIT:SEED:NUMBER"``
    in ASCII, with decimal numbers. SPLIT is 0 for all images, 1 for public images, 2 for private images. NUMBER is the
    index of the replicate, counted from 0. The message begins with a NUL byte, so it never equals an image id, and each
    HMAC serves only one purpose.

    Parameters
    ----------
    salt : bytes of length 16
    split, seed, number : int, at least 0

    Examples
    --------
    >>> f"{replicate_entropy(bytes(16), 1, 0, 7):064x}"[:16]
    'b3bcfec30fe1978b'
    """
    message = f"\0replicate:{split}:{seed}:{number}".encode()
    return int.from_bytes(hmac.digest(salt, message, sha256), "big")


def usage_hash(salt: bytes, usages: Iterable[tuple[str, str]]) -> str | None:
    r"""Return a hash that commits to the usage of each image without revealing it, as 64 hexadecimal digits.

    The result is HMAC-SHA256(salt, message). The message consists of the line ``"\0usage"`` and a line ``IMAGE,Usage``
    for each image, in CSV format and sorted by id. It is encoded in UTF-8, and every line ends with a line feed.
    Without a salt, the result is None, because anybody could guess the split and confirm the guess.

    Parameters
    ----------
    salt : bytes of length 16, or empty
    usages : iterable of (image, usage)
        In any order; a usage is ``Public``, ``Private`` or ``Ignored``.

    Examples
    --------
    >>> usage_hash(bytes(16), [("b", "Private"), ("a", "Public")])[:16]
    'b86f330f0683c1a4'
    >>> usage_hash(b"", [("a", "Public")])
    """
    if not salt:
        return None
    content = io.StringIO("\0usage\n")
    content.seek(0, io.SEEK_END)
    csv.writer(content, lineterminator="\n").writerows(sorted(usages))
    return hmac.digest(salt, content.getvalue().encode(), sha256).hex()
