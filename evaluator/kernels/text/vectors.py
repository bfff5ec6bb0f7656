"""Vector operations: the ends of cells among 64 characters, and the conversion of four numbers.

LLVM translates vectors to the vector instructions of the processor. If bounds are checked, loops are used instead.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from evaluator.kernels.jit import inlined
from evaluator.kernels.text.bits import ALL, NO_DIGIT, TOPS, bits_set_in, trailing_zeros
from evaluator.kernels.text.decimals import LONG_DECIMALS, ZEROS, long_number, short_number

WIDTH = 64
LANES = 4
EIGHT = 8
# Data is prefetched this many bytes before it is read. The distance is about the size of a batch.
AHEAD = 8192
COMMA, BLANK, ZERO_POINT = 0x2C, 0x20, 0x2E30
TWO_TO_52_BITS = 0x4330000000000000  # The bits of 2.0**52, a float64 whose lowest bit stands for 1.
_0, _1 = np.uint64(0), np.uint64(1)
_Byte, _Half, _Lane, _Word, _Double = (*(ir.IntType(bits) for bits in (8, 16, 32, 64)), ir.DoubleType())


def _same(kind: Any, value: Any) -> Any:
    """Return a constant vector in which all elements have the same value."""
    return ir.Constant(kind, [value if isinstance(value, float) else int(value)] * kind.count)


def _vector(builder: Any, kind: Any, values: Any) -> Any:
    vector = ir.Constant(kind, ir.Undefined)
    for lane, value in enumerate(values):
        vector = builder.insert_element(vector, value, ir.Constant(_Lane, lane))
    return vector


def _load(builder: Any, data: Any, at: Any, kind: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(data, [at]), kind.as_pointer()), align=1)


@intrinsic
def _ends_and_separators_at(context: Any, data: Any, at: Any, separator: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(_Byte, WIDTH)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        there = _load(builder, array.data, arguments[1], vector)
        comma = builder.icmp_unsigned("==", there, _same(vector, COMMA))
        ends = builder.or_(comma, builder.icmp_unsigned("<=", there, _same(vector, BLANK)))
        wanted = _vector(builder, vector, [builder.trunc(arguments[2], _Byte)] * WIDTH)
        separators = builder.icmp_unsigned("==", there, wanted)
        masks = [builder.bitcast(mask, _Word) for mask in (ends, separators)]
        return context.make_tuple(builder, signature.return_type, masks)

    return types.UniTuple(types.uint64, 2)(data, types.int64, types.int64), build


@inlined
def _checked_ends_and_separators_at(data, at, separator):
    ends = separators = _0
    for offset in range(WIDTH):
        ends |= np.uint64(data[at + offset] == COMMA or data[at + offset] <= BLANK) << np.uint64(offset)
        separators |= np.uint64(data[at + offset] == separator) << np.uint64(offset)
    return ends, separators


def _eight_digits(builder: Any, digits: Any) -> Any:
    """Convert the eight bytes of each word, which are digits from 0 to 9, to an integer. The first byte comes first."""
    words = digits.type
    halves, quarters = (ir.VectorType(ir.IntType(64 // parts), words.count * parts) for parts in (2, 4))
    ones = builder.bitcast(digits, quarters)
    tens = builder.mul(builder.and_(ones, _same(quarters, 0xFF)), _same(quarters, 10))
    pairs = builder.add(tens, builder.lshr(ones, _same(quarters, 8)))
    hundreds = builder.bitcast(builder.mul(pairs, _same(quarters, 100)), halves)
    second = builder.lshr(builder.bitcast(pairs, halves), _same(halves, 16))
    fours = builder.bitcast(builder.add(builder.and_(hundreds, _same(halves, 0xFFFF)), second), words)
    upper = builder.mul(builder.and_(fours, _same(words, 0xFFFFFFFF)), _same(words, 10_000))
    return builder.add(upper, builder.lshr(fours, _same(words, 32)))


def _decimals(builder: Any, array: Any, at: list[Any], beyond: Any) -> tuple[Any, Any]:
    """Load eight characters from each offset, without the last ``beyond`` bits, which become 0.

    Return the digits, and a vector with bits set in the elements that have other characters than digits. If ``beyond``
    is not from 0 to 56, the element is arbitrary.
    """
    words = beyond.type
    texts = _vector(builder, words, [_load(builder, array, each, _Word) for each in at])
    # A shift by 64 bits or more is undefined, so the mask reduces the number of bits to 0 to 63.
    kept = builder.lshr(_same(words, ALL), builder.and_(beyond, _same(words, 63)))
    digits = builder.and_(builder.xor(texts, _same(words, ZEROS)), kept)
    large = builder.or_(builder.add(digits, _same(words, NO_DIGIT)), digits)
    return digits, builder.and_(large, _same(words, TOPS))


def _four_numbers(decimals: int) -> Any:
    """Return an intrinsic that reads four numbers with at most 8 decimals, or with 9 to 14."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = ir.VectorType(_Word, LANES)
        array = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        begin, size = ([builder.extract_value(each, lane) for lane in range(LANES)] for each in arguments[1:])

        def after(count: int) -> list[Any]:
            return [builder.add(each, ir.Constant(_Word, count)) for each in begin]

        # The first two characters must be a digit and a point. Decimals follow, in one or two words.
        heads = _vector(builder, words, [builder.zext(_load(builder, array, each, _Half), _Word) for each in begin])
        heads = builder.xor(heads, _same(words, ZERO_POINT))
        bits = builder.mul(_vector(builder, words, size), _same(words, 8))
        beyond = builder.sub(_same(words, 8 * (10 if decimals == 8 else 18)), bits)
        digits, others = _decimals(builder, array, after(2), beyond if decimals == 8 else _same(words, 0))
        wholes = builder.add(builder.mul(heads, _same(words, 10**8)), _eight_digits(builder, digits))
        if decimals > 8:
            digits, more = _decimals(builder, array, after(10), beyond)
            others = builder.or_(others, more)
            # Two digits 0 are inserted before the others, of which there are at most six.
            digits = builder.shl(digits, _same(words, 16))
            wholes = builder.add(builder.mul(wholes, _same(words, 10**6)), _eight_digits(builder, digits))
        fewest = 0 if decimals == 8 else 16
        plain = builder.icmp_unsigned("<=", builder.sub(beyond, _same(words, fewest)), _same(words, 56 - fewest))
        plain = builder.and_(plain, builder.icmp_unsigned("<=", heads, _same(words, 9)))
        plain = builder.and_(plain, builder.icmp_unsigned("==", others, _same(words, 0)))
        found = _quotients_and_all(builder, wholes, 10**decimals, plain)
        return context.make_tuple(builder, signature.return_type, found)

    def four_numbers(context: Any, data: Any, begins: Any, sizes: Any) -> Any:
        return types.Tuple((*(types.float64 for _ in range(LANES)), types.boolean))(data, begins, sizes), build

    return intrinsic(four_numbers)


def _quotients_and_all(builder: Any, wholes: Any, divisor: int, plain: Any) -> list[Any]:
    """Return the quotients of integers below 2**52 and a divisor, then whether all elements of ``plain`` are true."""
    doubles, mask = ir.VectorType(_Double, LANES), ir.IntType(LANES)
    raised = builder.bitcast(builder.or_(wholes, _same(wholes.type, TWO_TO_52_BITS)), doubles)
    quotients = builder.fdiv(builder.fsub(raised, _same(doubles, 2.0**52)), _same(doubles, float(divisor)))
    values = [builder.extract_element(quotients, ir.Constant(_Lane, lane)) for lane in range(LANES)]
    return [*values, builder.icmp_unsigned("==", builder.bitcast(plain, mask), ir.Constant(mask, 2**LANES - 1))]


def _checked_four_numbers(read: Any) -> Any:
    """Return a function that reads four numbers one after another."""

    @inlined
    def four_numbers(data, begins, sizes):
        one, is_one = read(data, begins[0], sizes[0])
        two, is_two = read(data, begins[1], sizes[1])
        three, is_three = read(data, begins[2], sizes[2])
        four, is_four = read(data, begins[3], sizes[3])
        return one, two, three, four, is_one and is_two and is_three and is_four

    return four_numbers


ends_and_separators_at = _checked_ends_and_separators_at if config.BOUNDSCHECK else _ends_and_separators_at
"""``ends_and_separators_at(data, at, separator)`` returns two words with a bit for each of the 64 bytes from ``at`` on.

In the first word, a bit is set if the byte can end a cell or a token: a comma, a blank or a control character. In the
second word, a bit is set if the byte is ``separator``. The data must be readable for 64 bytes.
"""
four_numbers = _checked_four_numbers(short_number) if config.BOUNDSCHECK else _four_numbers(8)
"""``four_numbers(data, begins, sizes)`` reads four numbers as :func:`~.decimals.short_number` does, all at once.

The numbers are the texts ``data[begin : begin + size]``. The result consists of four float64 and a bool: whether all
texts have the notation. Otherwise, the numbers are arbitrary. The data must be readable for 18 bytes from each
``begin`` on.
"""
four_long_numbers = _checked_four_numbers(long_number) if config.BOUNDSCHECK else _four_numbers(LONG_DECIMALS)
"""``four_long_numbers(data, begins, sizes)`` reads four numbers as :func:`~.decimals.long_number` does."""


@inlined
def write_ends(found, at, ends, count):
    """Write the offsets of the bits that are set in ``found`` to ``ends``, and return the new number of elements.

    Parameters
    ----------
    found : uint64
        As :func:`ends_and_separators_at` returns it for the offset ``at``.
    at : int64
    ends : int64 array
        Must have room for 72 more elements, some of which are scratch memory.
    count : int64
        Number of elements of ``ends`` that are in use.
    """
    first, count = count, count + np.int64(bits_set_in(found))
    while found:
        # Offsets are always written eight at a time, because the CPU predicts a loop of fixed length well. Few blocks
        # of 64 bytes have more than eight ends. If there are fewer than eight, the surplus values are overwritten
        # later.
        for offset in range(EIGHT):
            ends[np.uint64(first + offset)] = at + np.int64(trailing_zeros(found))
            found &= found - _1
        first += EIGHT
    return count
