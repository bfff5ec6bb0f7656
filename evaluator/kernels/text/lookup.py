"""From the bytes of an id or a label to its code: an open-addressing table, built once with the truth.

The texts lie padded with zeros to pairs of eight-byte words, so that comparing them compares words.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import frozen, kernel, outlined, part
from evaluator.kernels.text.bits import first_bytes, text_bytes_in, word_at

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio: Knuth's multiplicative hashing
FREE = -1
SLOTS_PER_TEXT = 8
MOST_CHARACTERS = 256
_0, _29, _33 = np.uint64(0), np.uint64(29), np.uint64(33)
ONES, HIGHEST_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
QUOTES = np.uint64(0x2222222222222222)


class TextIndex(NamedTuple):
    """Codes of texts, read-only.

    Attributes
    ----------
    slots : int32 array of shape (a power of two,)
        Code of the text that hashes there or after the text that does, -1 where none does.
    starts : int32 array of shape (texts + 1,)
        Where the words of each text begin.
    words : uint64 array
    """

    slots: NDArray[np.int32]
    starts: NDArray[np.int32]
    words: NDArray[np.uint64]


INDEX = types.NamedTuple((frozen(types.int32), frozen(types.int32), frozen(types.uint64)), TextIndex)


def index_of(texts: Sequence[str], *, as_unknown: bool = False) -> TextIndex:
    """Return the index of distinct texts.

    Left out are those that no plain cell or token can spell, with a blank, comma, quote or control character: they
    take the readable way. With ``as_unknown`` those that are not :func:`is_plain` are left out as well: so they take it
    whether they are known or not.
    """
    encoded = [text.encode() for text in texts]
    sizes = np.array([-(-len(text) // 16) * 2 for text in encoded], np.int64)
    starts = np.r_[0, np.cumsum(sizes)].astype(np.int32)
    words = np.frombuffer(b"".join(text + bytes(-len(text) % 16) for text in encoded), np.uint64)
    plain = np.array([not any(byte <= 0x20 or byte in b'",' for byte in text) for text in encoded], np.bool_)
    if as_unknown:
        plain &= np.array(
            [text.isascii() and len(text) <= MOST_CHARACTERS and 0x7F not in text for text in encoded], bool
        )
    slots = np.full(1 << max(len(texts) * SLOTS_PER_TEXT - 1, 1).bit_length(), FREE, np.int32)
    _fill(slots, starts, words, plain)
    for array in (slots, starts, words):
        array.flags.writeable = False
    return TextIndex(slots, starts, words)


def kept_index(name: str, texts: Iterable[str], *, as_unknown: bool = False) -> dict[str, NDArray[Any]]:
    """Return an index as arrays to be kept with a truth; :func:`index_in` finds it there again."""
    return {f"{name}.{part}": array for part, array in index_of([*texts], as_unknown=as_unknown)._asdict().items()}


def index_in(arrays: Mapping[str, NDArray[Any]], name: str) -> TextIndex:
    """Return the index that :func:`kept_index` made."""
    return TextIndex(*(arrays[f"{name}.{part}"] for part in TextIndex._fields))


@part
def hashed(value, one, two):
    """Return the hash of a text that goes on with two more words."""
    value = (value ^ one) * SPREAD
    return ((value >> _29) ^ value ^ two) * SPREAD


@part
def slot_of(value, slots):
    """Return where to look first: the uppermost bits, into which all others have been multiplied."""
    return np.int64(value >> _33) & (len(slots) - 1)


@part
def _pair_at(data, at):
    """Return the next 16 bytes of a text as two words, zero from its end on, and how many belong to it."""
    one, two = word_at(data, at), word_at(data, at + 8)
    count = text_bytes_in(one)
    if count < 8:
        return first_bytes(one, count), _0, count
    more = text_bytes_in(two)
    return one, (first_bytes(two, more) if more < 8 else two), 8 + more


@kernel(types.int32[::1], types.int32[::1], frozen(types.uint64), types.boolean[::1])
def _fill(slots, starts, words, plain):
    for code in range(len(plain)):
        if plain[code]:
            value = SPREAD
            for place in range(starts[code], starts[code + 1], 2):
                value = hashed(value, words[place], words[place + 1])
            slot = slot_of(value, slots)
            while slots[slot] != FREE:
                slot = (slot + 1) & (len(slots) - 1)
            slots[slot] = code


@part
def _same(data, at, end, words, first, stop):
    """Tell whether the text from ``at`` to ``end`` is that of these words."""
    if (end - at + 15) >> 4 != (stop - first) >> 1:
        return False
    for place in range(first, stop, 2):
        one, two, _ = _pair_at(data, at)
        if one != words[np.uint64(place)] or two != words[np.uint64(place + 1)]:
            return False
        at += 16
    return True


@part
def _search(data, at, end, index, value):
    slot = slot_of(value, index.slots)
    while True:
        code = np.int64(index.slots[np.uint64(slot)])
        if code == FREE:
            return code
        if _same(data, at, end, index.words, index.starts[np.uint64(code)], index.starts[np.uint64(code + 1)]):
            return code
        slot = (slot + 1) & (len(index.slots) - 1)


@part
def text_at(data, at, index):
    """Look up the text that begins at ``at`` and ends before the first blank, comma or control character.

    Parameters
    ----------
    data : uint8 array
        Readable for 16 bytes beyond the text's end.
    at : int64
    index : TextIndex

    Returns
    -------
    code : int64, -1 where the index does not have it
    end : int64
    hash : uint64
        Equal for equal texts.
    """
    value, end = SPREAD, at
    while True:
        one, two, count = _pair_at(data, end)
        if count > 0:
            value = hashed(value, one, two)
        end += count
        if count < 16:
            return _search(data, at, end, index, value), end, value


@kernel(frozen(types.uint8), INDEX, types.int64[::1])
def codes_in(data, index, codes):
    """Look up texts that are each followed by one comma, for tests."""
    at = np.int64(0)
    for place in range(len(codes)):
        codes[place], end, _ = text_at(data, at, index)
        at = end + 1


@outlined
def is_plain(data, at, end):
    """Tell whether an unknown text is at least sound: 1 to 256 characters of printable ASCII, no quote.

    What ends a text is not looked for: blanks, commas and control characters.
    """
    if not 0 < end - at <= MOST_CHARACTERS:
        return False
    while at < end:
        word = first_bytes(word_at(data, at), min(end - at, 8))
        quotes = word ^ QUOTES
        if ((word | (word + ONES)) | ((quotes - ONES) & ~quotes)) & HIGHEST_BITS:  # 0x7F and above, or a quote
            return False
        at += 8
    return True
