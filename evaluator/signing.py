"""Writes and reads signed JSON documents. A document is signed with Ed25519 (RFC 8032).

A signed file is a JSON object with three members. ``results`` is the document. ``public_key`` has 64 hexadecimal
digits. ``ed25519`` is the signature of the document and has 128 hexadecimal digits. The signed bytes are those that
:func:`canonical` returns for the document. The file itself is written in this canonical form too, so equal contents
always produce identical files.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from evaluator.problems import PodiumError

DOCUMENT, PUBLIC_KEY, SIGNATURE = "results", "public_key", "ed25519"
EARLIER_KEYS = "earlier_keys"  # The JSON key under which a server lists its earlier public keys.
KEY = re.compile(r"[0-9a-f]{64}")
_SIGNATURE = re.compile(r"[0-9a-f]{128}")
_SHOWN = 16  # Number of digits of a public key that error messages show.


class InvalidSigned(PodiumError):
    """Raised if a signed file is damaged, or was changed after it was signed. The message explains why."""


class OtherKey(InvalidSigned):
    """Raised if a file was signed with a different key than expected."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A parsed signed file. ``signed`` is true if the signature matches the document.

    ``canonical`` is true if the file consists of exactly the bytes that :func:`canonical` returns for its content.
    """

    document: Any
    public_key: str
    signed: bool
    canonical: bool


def canonical(document: Any) -> bytes:
    r"""Return the canonical bytes of JSON data: UTF-8, with sorted keys, one item per line, and exact numbers.

    Each number is written as ``repr`` writes it, with the fewest digits that identify the float64. The bytes end with a
    newline.

    Raises
    ------
    ValueError
        If a number is infinite or NaN, or if a string is not valid Unicode.

    Examples
    --------
    >>> canonical({"b": 0.1, "a": [1, "é"]})
    b'{"a":[1,\n"\xc3\xa9"],\n"b":0.1}\n'
    """
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",\n", ":"))
    return f"{text}\n".encode()


def public_key(seed: bytes) -> str:
    """Return the public key that belongs to a private key, as 64 hexadecimal digits.

    Parameters
    ----------
    seed : bytes of length 32
        The private key.

    Examples
    --------
    The key is from the first test vector of RFC 8032.

    >>> public_key(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))[:16]
    'd75a980182b10ab7'
    """
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw().hex()


def sign(document: Mapping[str, Any], seed: bytes) -> bytes:
    """Sign a document and return the bytes of the signed file. Equal documents and keys produce identical files.

    Parameters
    ----------
    document : mapping
        JSON-serializable data.
    seed : bytes of length 32
        The private key.
    """
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(canonical(document)).hex()
    return canonical({DOCUMENT: document, PUBLIC_KEY: public_key(seed), SIGNATURE: signature})


def opened(content: bytes) -> Opened:
    """Parse a signed file. Return its document, and whether the signature matches the document.

    Raises
    ------
    InvalidSigned
        If the file does not have the structure of a signed file.
    """
    try:
        parsed = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidSigned(f"the file is damaged or is not JSON: {reason}") from None
    if not isinstance(parsed, dict) or parsed.keys() != {DOCUMENT, PUBLIC_KEY, SIGNATURE}:
        raise InvalidSigned(f"a signed file must have exactly the members {DOCUMENT}, {PUBLIC_KEY} and {SIGNATURE}")
    for name, form in ((PUBLIC_KEY, KEY), (SIGNATURE, _SIGNATURE)):
        if not isinstance(parsed[name], str) or not form.fullmatch(parsed[name]):
            raise InvalidSigned(f"{name} is not a string of hexadecimal digits of the correct length")
    return _checked(parsed, content)


def _checked(parsed: Mapping[str, Any], content: bytes) -> Opened:
    try:
        message, whole = canonical(parsed[DOCUMENT]), canonical(parsed)
    except (ValueError, RecursionError):
        raise InvalidSigned("the file contains values that Podium never writes") from None
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(parsed[PUBLIC_KEY]))
    try:
        key.verify(bytes.fromhex(parsed[SIGNATURE]), message)
    except InvalidSignature:
        return Opened(parsed[DOCUMENT], parsed[PUBLIC_KEY], signed=False, canonical=whole == content)
    return Opened(parsed[DOCUMENT], parsed[PUBLIC_KEY], signed=True, canonical=whole == content)


def check(found: Opened, *, keys: Collection[str] = ()) -> None:
    """Raise an exception if a signed document does not have a valid signature.

    Parameters
    ----------
    found : Opened
    keys : collection of str
        The accepted public keys, each as 64 lower-case hexadecimal digits. If empty, any key is accepted.

    Raises
    ------
    OtherKey, InvalidSigned
    """
    if keys and found.public_key not in keys:
        expected = " or ".join(f"{key[:_SHOWN]}…" for key in keys)
        raise OtherKey(f"signed with the key {found.public_key[:_SHOWN]}…, not with the expected key {expected}")
    if not found.signed:
        raise InvalidSigned("the signature does not match the content: the file was changed after it was signed")
    if not found.canonical:
        raise InvalidSigned(
            "the values match the signature, but the bytes of the file differ from those that were signed: a number "
            "is written with different digits, a key is repeated, or another program has saved the file; download it "
            "again"
        )
