"""Operations that process eight bytes at a time, and machine instructions for which Python has no operator.

SWAR, "SIMD within a register": a 64-bit word holds eight characters, the first in its lowest byte, and one addition
tests all of them. Source: Lamport 1975, "Multiple byte processing with full-word instructions".
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from evaluator.kernels.jit import inlined

ONES = np.uint64(0x0101010101010101)
TOPS = np.uint64(0x8080808080808080)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# Adding 0x76 to a byte from 10 to 127 sets the highest bit of the byte, which marks bytes that are not digits.
NO_DIGIT = np.uint64(0x7676767676767676)
BLANKS = np.uint64(0x2121212121212121)
COMMAS = np.uint64(0x2C2C2C2C2C2C2C2C)
BYTE = np.uint64(0xFF)
_0, _1, _3, _8, _16, _32, _63, _64 = (np.uint64(number) for number in (0, 1, 3, 8, 16, 32, 63, 64))


@intrinsic
def _word_at(context: Any, data: Any, at: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(address, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(data, types.int64), build


@intrinsic
def trailing_zeros(context: Any, word: Any) -> Any:
    """Return the number of zero bits below the lowest set bit, 64 if no bit is set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.uint64(types.uint64), build


@intrinsic
def leading_zeros(context: Any, word: Any) -> Any:
    """Return the number of zero bits above the highest set bit, 64 if no bit is set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], cgutils.false_bit)

    return types.uint64(types.uint64), build


@intrinsic
def bits_set_in(context: Any, word: Any) -> Any:
    """Return how many bits of a 64-bit word are set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@intrinsic
def high_product(context: Any, one: Any, other: Any) -> Any:
    """Return the upper 64 bits of the 128-bit product of two uint64 values."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


@intrinsic
def as_bits(context: Any, number: Any) -> Any:
    """Return the 64 bits of a float64."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), build


@intrinsic
def as_float(context: Any, bits: Any) -> Any:
    """Return the float64 that is represented by the given 64 bits."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), build


@intrinsic
def strtod(context: Any, data: Any, at: Any) -> Any:
    """Read a number with the C library's ``strtod``. Return its value and its length in characters."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        text = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.DoubleType(), [text, text.as_pointer()])
        function = cgutils.get_or_insert_function(builder.module, kind, "strtod")
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        begin, stop = builder.gep(array.data, [arguments[1]]), cgutils.alloca_once(builder, text)
        value = builder.call(function, [begin, stop])
        word = ir.IntType(64)
        length = builder.sub(builder.ptrtoint(builder.load(stop), word), builder.ptrtoint(begin, word))
        return context.make_tuple(builder, signature.return_type, [value, length])

    return types.Tuple((types.float64, types.int64))(data, types.int64), build


@intrinsic
def _byte_at(context: Any, data: Any, at: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.zext(builder.load(builder.gep(array.data, [arguments[1]])), ir.IntType(64))

    return types.int64(data, types.int64), build


@intrinsic
def prefetch(context: Any, array: Any, at: Any) -> Any:
    """Prefetch the cache line of element ``at`` of the flattened array; ``at`` may be out of range."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [address, *(ir.Constant(number, value) for value in (0, 3, 1))])
        return context.get_dummy_value()

    return types.none(array, types.int64), build


@intrinsic
def _short_words(context: Any, data: Any, at: Any, size: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, word, lane = ir.IntType(8), ir.IntType(64), ir.IntType(32)
        text = ir.VectorType(byte, 16)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(array.data, [arguments[1]])
        there = builder.load(builder.bitcast(address, text.as_pointer()), align=1)
        count, limit = builder.trunc(arguments[2], byte), ir.Constant(text, ir.Undefined)
        for number in range(16):
            limit = builder.insert_element(limit, count, ir.Constant(lane, number))
        is_kept = builder.icmp_unsigned("<", ir.Constant(text, list(range(16))), limit)
        kept = builder.select(is_kept, there, ir.Constant(text, [0] * 16))
        words = builder.bitcast(kept, ir.VectorType(word, 2))
        both = [builder.extract_element(words, ir.Constant(lane, number)) for number in range(2)]
        return context.make_tuple(builder, signature.return_type, both)

    return types.UniTuple(types.uint64, 2)(data, types.int64, types.int64), build


@inlined
def _checked_byte_at(data, at):
    return np.int64(data[at])


@inlined
def _checked_word_at(data, at):
    word = _0
    for offset in range(8):
        word |= np.uint64(data[at + offset]) << np.uint64(8 * offset)
    return word


@inlined
def _checked_short_words(data, at, size):
    one = first_bytes(_checked_word_at(data, at), min(size, 8))
    return one, first_bytes(_checked_word_at(data, at + 8), max(size - 8, 0))


# One part of `make fuzz` sets NUMBA_BOUNDSCHECK=1. In that case, bytes are read by indexing the array, so that numba
# checks the bounds.
word_at = _checked_word_at if config.BOUNDSCHECK else _word_at
"""``word_at(data, at)`` returns the eight bytes from ``at`` on. Bounds are not checked."""
byte_at = _checked_byte_at if config.BOUNDSCHECK else _byte_at
"""``byte_at(data, at)`` returns one byte as int64. Bounds are not checked; a negative ``at`` is out of bounds."""
short_words = _checked_short_words if config.BOUNDSCHECK else _short_words
"""``short_words(data, at, size)`` returns ``size`` bytes as two words, with zeros in the bytes after them.

``size`` is from 0 to 16. 16 bytes from ``at`` on must be readable.
"""


@inlined
def digits_in(word):
    """Return the number of leading bytes of a word that have values from 0 to 9.

    To find digits in ASCII text, XOR each byte with 0x30 first, which converts the digits to the numbers 0 to 9.
    """
    return np.int64(trailing_zeros(((word + NO_DIGIT) | word) & TOPS) >> _3)


@inlined
def text_bytes_in(word):
    """Return the number of leading bytes of a word that are not blanks, control characters or commas."""
    commas = word ^ COMMAS
    found = ((word - BLANKS) & ~word) | ((commas - ONES) & ~commas)
    return np.int64(trailing_zeros(found & TOPS) >> _3)


@inlined
def first_bytes(word, count):
    """Return the first ``count`` bytes of a word, with zeros in the other bytes. ``count`` is from 0 to 8."""
    half = np.uint64(4 * count)  # The word is shifted in two steps, because a shift by 64 bits is undefined.
    return word & ((_1 << half << half) - _1)
