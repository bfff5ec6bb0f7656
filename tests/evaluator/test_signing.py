"""Equal contents always give the same signed file, and any change to a value, a digit or a key is rejected."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.signing import InvalidSigned, OtherKey, canonical, check, opened, public_key, sign
from tests.evaluator.signed_results import OTHER_SEED, SEED, at, document, places, replaced

SIGNED = sign(document(), SEED)
GOLDEN = "e052f1ef151fda9d1cdf9dbfb0a6f54d03e90e677e5936900e4b8867030cc363"
PLACES = list(places(json.loads(SIGNED)))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def accepted(content: bytes, *keys: str) -> bool:
    try:
        check(opened(content), keys=keys)
    except InvalidSigned:
        return False
    return True


def test_the_bytes_of_a_signed_file_never_change() -> None:
    earlier = document()
    # Earlier versions of the service did not write the key "unfinished" to files with results.
    del earlier["unfinished"]
    assert hashlib.sha256(sign(earlier, SEED)).hexdigest() == GOLDEN
    assert SIGNED.splitlines()[0].startswith(b'{"ed25519":"')
    assert b'"score":0.30000000000000004,\n' in SIGNED
    assert "Bären".encode() in SIGNED


def test_the_signature_is_ed25519_of_the_canonical_bytes() -> None:
    # The public key in the second test vector of RFC 8032.
    assert public_key(OTHER_SEED) == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert accepted(SIGNED, public_key(SEED))


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_a_change_of_any_value_is_refused(path: tuple[Any, ...]) -> None:
    whole = json.loads(SIGNED)
    value = at(whole, path)
    for new in changes(value):
        assert not accepted(canonical(replaced(whole, path, new)))


def changes(value: Any) -> list[Any]:
    """Return values that differ from the given one in type or value. Some are equal in Python, such as 1 and 1.0."""
    if isinstance(value, str):
        last = {"0": "1", "a": "b"}.get(value[-1:], "0")
        return [value[:-1] + last, value + " ", value.upper() + "x", None]
    if isinstance(value, bool) or value is None:
        return [not value, int(bool(value)), "null"]
    if isinstance(value, int):
        return [value + 1, -value, float(value), str(value)]
    return [value + 0.1, -value, value * (1 + 2**-52) + 2**-1070, int(value), repr(value)]


def test_another_digit_that_gives_the_same_number_is_refused() -> None:
    changed = SIGNED.replace(b'"score":0.30000000000000004', b'"score":0.30000000000000005')
    assert changed != SIGNED
    assert json.loads(changed) == json.loads(SIGNED)
    with pytest.raises(InvalidSigned, match="different digits"):
        check(opened(changed))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b",\n", b", "),
        lambda text: text.rstrip(b"\n"),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b'"final":true', b'"final":false,\n"final":true'),
        lambda text: text.replace("ä".encode(), rb"\u00e4"),
        lambda text: json.dumps(json.loads(text), indent=2).encode(),
    ],
    ids=["spaces", "no newline", "CRLF", "a repeated key", "an escape", "saved by another program"],
)
def test_other_bytes_with_the_same_content_are_refused(change: Any) -> None:
    changed = change(SIGNED)
    assert changed != SIGNED
    with pytest.raises(InvalidSigned, match="bytes of the file differ"):
        check(opened(changed))


def test_a_file_signed_with_another_key_is_refused_if_the_key_is_given() -> None:
    forged = sign(document(challenge="mine"), OTHER_SEED)
    assert accepted(forged)
    with pytest.raises(OtherKey, match="not with the expected key d75a980182b10ab7"):
        check(opened(forged), keys=[public_key(SEED)])
    exchanged = json.loads(SIGNED) | {"public_key": public_key(OTHER_SEED)}
    assert not accepted(canonical(exchanged))


def test_every_part_of_a_file_is_refused() -> None:
    assert not any(accepted(SIGNED[:end]) for end in range(0, len(SIGNED), 7))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"\x80", "not JSON"),
        (b"rank,team\n", "not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"results":' * 200_000, "nested too deeply"),
        (b"9" * 5000, "not JSON"),
        (b"[]", "must have exactly the members"),
        (b"{}", "must have exactly the members"),
        (SIGNED.replace(b'"public_key":"d7', b'"public_key":"D7'), "hexadecimal"),
        (SIGNED.replace(b'"public_key":"d7', b'"public_key":"'), "hexadecimal"),
        (SIGNED.replace(b"1e-07", b"NaN"), "never writes"),
        (SIGNED.replace(b"1e-07", b"1e999"), "never writes"),
        (SIGNED.replace("Bären".encode(), rb"\ud800"), "never writes"),
    ],
    ids=range(13),
)
def test_a_damaged_or_hostile_file_is_refused_with_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(InvalidSigned, match=reason):
        check(opened(content))


@given(JSON)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_canonical_bytes_of_a_document_parse_to_the_document(value: Any) -> None:
    try:
        content = canonical(value)
    except UnicodeEncodeError:
        return
    assert repr(in_order(json.loads(content))) == repr(in_order(value))


def in_order(value: Any) -> Any:
    """Return a document with sorted keys, so that equal documents have the same JSON text."""
    if isinstance(value, dict):
        return {name: in_order(value[name]) for name in sorted(value)}
    return [in_order(one) for one in value] if isinstance(value, list) else value
