"""Looks up the integer code of an id or a label in a hash table with open addressing.

The table is part of a prepared ground truth. Strings are padded with zeros to pairs of eight-byte words, so that they
can be compared word by word.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import inlined, kernel, read_only, subroutine
from evaluator.kernels.text.bits import first_bytes, prefetch, text_bytes_in, word_at

# The multiplier of the hash function is 2**64 divided by the golden ratio (Knuth's multiplicative hashing).
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
EMPTY = -1
UNDECIDED = -2
SLOTS_PER_TEXT = 8
MAX_CHARACTERS = 256
_0, _1, _2, _29, _33 = (np.uint64(number) for number in (0, 1, 2, 29, 33))
ONES, HIGHEST_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
QUOTES = np.uint64(0x2222222222222222)


class TextIndex(NamedTuple):
    """A read-only hash table that maps strings to codes (integers).

    Attributes
    ----------
    slots : int32 array of shape (a power of two,)
        Code of the string in each slot, -1 if the slot is empty. A string is in the slot given by its hash or, if that
        slot is taken, in the next empty slot.
    starts : int32 array of shape (texts + 1,)
        Position in ``words`` of the first word of each string.
    words : uint64 array
        The padded strings.
    """

    slots: NDArray[np.int32]
    starts: NDArray[np.int32]
    words: NDArray[np.uint64]


INDEX = types.NamedTuple((read_only(types.int32), read_only(types.int32), read_only(types.uint64)), TextIndex)


def index_of(texts: Sequence[str], *, as_unknown: bool = False) -> TextIndex:
    """Return a hash table that maps each of the given strings, which must be distinct, to its index.

    Strings with a blank, comma, quote or control character are left out, because kernels cannot read cells and tokens
    that contain them. With ``as_unknown``, all strings that are not plain (see :func:`is_plain`) are left out, so
    kernels treat them as unknown. Otherwise, whether kernels can read a submission would reveal which of these strings
    are in the ground truth.
    """
    encoded = [text.encode() for text in texts]
    sizes = np.array([-(-len(text) // 16) * 2 for text in encoded], np.int64)
    starts = np.r_[0, np.cumsum(sizes)].astype(np.int32)
    words = np.frombuffer(b"".join(text + bytes(-len(text) % 16) for text in encoded), np.uint64)
    plain = np.array([not any(byte <= 0x20 or byte in b'",' for byte in text) for text in encoded], np.bool_)
    if as_unknown:
        plain &= np.array(
            [text.isascii() and len(text) <= MAX_CHARACTERS and 0x7F not in text for text in encoded], bool
        )
    slots = np.full(1 << max(len(texts) * SLOTS_PER_TEXT - 1, 1).bit_length(), EMPTY, np.int32)
    _fill(slots, starts, words, plain)
    for array in (slots, starts, words):
        array.flags.writeable = False
    return TextIndex(slots, starts, words)


def stored_index(name: str, texts: Iterable[str], *, as_unknown: bool = False) -> dict[str, NDArray[Any]]:
    """Return the hash table of the given strings as a dict of arrays, to be stored in a prepared ground truth.

    :class:`evaluator.tracks.shared.label_truth.StoredIndex` reads these arrays.
    """
    return {f"{name}.{part}": array for part, array in index_of([*texts], as_unknown=as_unknown)._asdict().items()}


@inlined
def hashed(value, one, two):
    """Update the hash of a string with its next two words, and return the new hash."""
    value = (value ^ one) * HASH_MULTIPLIER
    return ((value >> _29) ^ value ^ two) * HASH_MULTIPLIER


@inlined
def slot_of(value, slots):
    """Return the slot for a hash, taken from its upper bits, which depend on all bits of the string."""
    return np.int64(value >> _33) & (len(slots) - 1)


@inlined
def _pair_at(data, at):
    """Return the next 16 bytes of a string as (first word, second word, number of bytes).

    Bytes after the end of the string are 0.
    """
    one, two = word_at(data, at), word_at(data, at + 8)
    count = text_bytes_in(one)
    if count < 8:
        return first_bytes(one, count), _0, count
    more = text_bytes_in(two)
    return one, (first_bytes(two, more) if more < 8 else two), 8 + more


@kernel(types.int32[::1], types.int32[::1], read_only(types.uint64), types.boolean[::1])
def _fill(slots, starts, words, plain):
    for code in range(len(plain)):
        if plain[code]:
            value = HASH_MULTIPLIER
            for word in range(starts[code], starts[code + 1], 2):
                value = hashed(value, words[word], words[word + 1])
            slot = slot_of(value, slots)
            while slots[slot] != EMPTY:
                slot = (slot + 1) & (len(slots) - 1)
            slots[slot] = code


@inlined
def _equals(data, at, end, words, first, stop):
    """Return whether a string in ``data`` equals a string of the index, which is stored in ``words``.

    The first string is ``data[at:end]``. The second string is ``words[first:stop]``, padded with zeros.
    """
    if (end - at + 15) >> 4 != (stop - first) >> 1:
        return False
    for word in range(first, stop, 2):
        one, two, _ = _pair_at(data, at)
        if one != words[np.uint64(word)] or two != words[np.uint64(word + 1)]:
            return False
        at += 16
    return True


@inlined
def _search(data, at, end, index, value):
    slot = slot_of(value, index.slots)
    while True:
        code = np.int64(index.slots[np.uint64(slot)])
        if code == EMPTY:
            return code
        if _equals(data, at, end, index.words, index.starts[np.uint64(code)], index.starts[np.uint64(code + 1)]):
            return code
        slot = (slot + 1) & (len(index.slots) - 1)


@inlined
def text_at(data, at, index):
    """Look up the string that begins at ``at`` and ends before the first blank, comma or control character.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 16 bytes beyond the end of the string.
    at : int64
    index : TextIndex

    Returns
    -------
    code : int64
        -1 if the string is not in the index.
    end : int64
        The offset after the string.
    hash : uint64
    """
    value, end = HASH_MULTIPLIER, at
    while True:
        one, two, count = _pair_at(data, end)
        if count > 0:
            value = hashed(value, one, two)
        end += count
        if count < 16:
            return _search(data, at, end, index, value), end, value


@inlined
def code_of_short(one, two, size, index):
    """Look up a string of at most 16 bytes whose length is known.

    Parameters
    ----------
    one, two : uint64
        The first 16 bytes of the string; see :func:`evaluator.kernels.text.bits.short_words`.
    size : int64
        Number of bytes of the string, which must not be negative.
    index : TextIndex

    Returns
    -------
    int64
        The code of the string; EMPTY if it is not in the index; UNDECIDED if it is longer or empty, or if another
        string is in the slot of its hash. Then :func:`text_at` is needed to look it up.
    """
    code = np.int64(index.slots[np.uint64(slot_of(hashed(HASH_MULTIPLIER, one, two), index.slots))])
    start = np.uint64(index.starts[np.uint64(max(code, 0))])
    is_short = code >= 0 and 0 < size <= 16 and np.uint64(index.starts[np.uint64(code + 1)]) == start + _2
    is_found = is_short and ((index.words[start] ^ one) | (index.words[start + _1] ^ two)) == _0
    is_absent = code == EMPTY and 0 < size <= 16
    return code if is_found or is_absent else np.int64(UNDECIDED)


@inlined
def prefetch_slot(data, at, index):
    """Prefetch the slot in which :func:`text_at` looks first, if the string that begins at ``at`` has at most 16 bytes.

    ``data`` must be readable for 16 bytes from ``at`` on.
    """
    one, two, _ = _pair_at(data, at)
    prefetch(index.slots, slot_of(hashed(HASH_MULTIPLIER, one, two), index.slots))


@inlined
def is_accepted(data, begin, end, code, closed):
    """Return whether a string is accepted.

    A string is accepted if it is in the index, so that its code is not negative, or if unknown strings are allowed and
    it is in plain syntax.
    """
    return code >= 0 or (not closed and is_plain(data, begin, end))


@kernel(read_only(types.uint8), INDEX, types.int64[::1])
def codes_between_commas(data, index, codes):
    """Look up strings, each of which is followed by a comma. Only tests use this function."""
    at = np.int64(0)
    for cell in range(len(codes)):
        codes[cell], end, _ = text_at(data, at, index)
        at = end + 1


@subroutine
def is_plain(data, at, end):
    """Return whether an unknown string is in plain syntax: 1 to 256 printable ASCII characters other than quotes.

    Callers must ensure that the string contains no blanks, commas or control characters.
    """
    if not 0 < end - at <= MAX_CHARACTERS:
        return False
    while at < end:
        word = first_bytes(word_at(data, at), min(end - at, 8))
        quotes = word ^ QUOTES
        # The condition is true if the word contains a quote, or a byte that is 0x7F or above.
        if ((word | (word + ONES)) | ((quotes - ONES) & ~quotes)) & HIGHEST_BITS:
            return False
        at += 8
    return True
