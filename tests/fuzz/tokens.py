"""Generates decimal numbers that are difficult to parse, and compares how the implementations read them."""

import random
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal
from struct import pack, unpack

import numpy as np

from evaluator.catalog import Limits
from evaluator.files.numbers import invalid_indices, number_defect, parse
from evaluator.kernels.text.decimals import numbers_between_blanks

BATCH = 1_000  # Number of tokens (strings that may be numbers) that are generated from one seed.
LIMITS = Limits()
EXACT = Context(prec=70)
TWO = {power: EXACT.power(2, power) for power in range(-1075, 972)}
DIGITS = "0123456789"
WORDS = ["", ".", "+", "-", "+.", "-.e1", "e", "e5", ".e5", "1e", "1e+", "1E-", "nan", "NaN", "inf", "-inf", "Infinity"]
WORDS += ["0x10", "0x1p3", "1_0", "--1", "+-1", "1.2.3", "1e5.0", "1e1e1", "1f", "0,5", "1d5", "NA", "True", "=1+1"]
WORDS += ["½", "٣", "０.５", "1\0", "1\r", "1\n", '"1"', "'1'", "1e999", "-1e309", f"1e{'9' * 20}", f"1e-{'9' * 20}"]
FOREIGN = "eE+-..__,;:xXpPaAfFnNiIdDoOlL'\"%$()[]/\\\0\r\n\x0b\x7f\xa0٣½０−"
EDGES = [2**53, 2**63, 2**64, 10**15, 10**16, 10**18, 10**19, 10**20, 2**1024 - 2**970]


def score(chance: random.Random) -> str:
    """Return a confidence or coordinate with one to nine digits after the decimal point."""
    return f"{chance.random():.{chance.randint(1, 9)}f}"


def fraction(chance: random.Random) -> str:
    """Return a number with one digit before the point.

    The number of digits after the point is often close to a value at which the kernels switch to a different algorithm.
    """
    text = f"{chance.choice(DIGITS)}.{digits(chance, chance.choice([0, 1, 7, 8, 9, 13, 14, 15, 16, 17, 18, 19, 20]))}"
    return text + chance.choice(["", "", "", "0", "e0", "E-1", "e+22", "e-22", "e23"])


def digits(chance: random.Random, count: int) -> str:
    return "".join(chance.choices(DIGITS, k=count))


def any_decimal(chance: random.Random) -> str:
    """Return a random string that matches the grammar of numbers, or almost does (for example, one without digits)."""
    text = chance.choice(["", "", "", "+", "-"]) + digits(chance, chance.choice([0, 1, 1, 2, 10, 19, 25]))
    if chance.random() < 0.8:
        text += "." + digits(chance, chance.choice([0, 1, 2, 6, 17, 20, 30]))
    return text + exponent(chance)


def exponent(chance: random.Random) -> str:
    most = chance.choice([0, 5, 30, 340, 400, 100_000])
    return f"{chance.choice('eE')}{chance.choice(['', '+', '-'])}{chance.randint(0, most)}" if most else ""


def printed(chance: random.Random) -> str:
    """Return a float64 with random bits as a string."""
    (value,) = unpack("d", pack("Q", chance.getrandbits(64)))
    return chance.choice(["{!r}", "{!r}", "{:.16e}", "{:.17g}", "{:.15g}", "{:.18e}"]).format(value)


def halfway(chance: random.Random) -> str:
    """Return the midpoint of two adjacent float64 values, rounded up or down if it has too many digits."""
    power = chance.choice([chance.randint(-1074, 971), chance.randint(-45, 150)])
    return between(chance, chance.getrandbits(52) | 1 << 52, power)


def between(chance: random.Random, mantissa: int, power: int) -> str:
    context = Context(prec=chance.choice([15, 17, 18, 19, 20, 21, 25, 40, 58]))
    context.rounding = chance.choice([ROUND_DOWN, ROUND_UP])
    middle = context.plus(EXACT.multiply(Decimal(2 * mantissa + chance.choice([0, 1, 1, 1])), TWO[power - 1]))
    text = f"{middle:f}" if -40 < middle.adjusted() < 60 and chance.random() < 0.7 else str(middle)
    base, e, power_of_ten = text.partition("E")
    more = chance.choice(["", "", "", "0", "000", "1", "0000001", "9"])
    return base + ("" if "." in base or not more else ".") + more + e + power_of_ten


def subnormal(chance: random.Random) -> str:
    return between(chance, chance.getrandbits(chance.randint(1, 52)), -1074)


def largest(chance: random.Random) -> str:
    """Return a number near the largest float64, or near an integer at which 64-bit arithmetic overflows."""
    if chance.random() < 0.5:
        return between(chance, 2**53 - chance.randint(1, 3), 971)
    text = str(chance.choice(EDGES) + chance.randint(-5, 5))
    return text + chance.choice(["", ".", ".0", ".5", "e0", "e1", "e-3", "e292", "e-340"])


def long(chance: random.Random) -> str:
    """Return the text of a number whose length is often near the accepted maximum, and sometimes above it."""
    length = chance.choice([chance.randint(20, 62), 62, 63, 64, 65, 66, 70, 200])
    end = exponent(chance) if chance.random() < 0.5 else ""
    body = list(digits(chance, max(length - len(end), 1)))
    if chance.random() < 0.7:
        body[chance.randrange(len(body))] = "."
    if chance.random() < 0.3:
        body[0] = chance.choice("+-")
    return "".join(body) + end


def padded(chance: random.Random) -> str:
    """Return a number with many leading or trailing zeros, or one that consists of zeros only."""
    zeros = "0" * chance.choice([1, 7, 8, 9, 15, 19, 30, 45])
    forms = [f"{zeros}{score(chance)}", f"0.{zeros}{digits(chance, 15)}", f"{digits(chance, 3)}{zeros}.{zeros}"]
    forms += [f".{zeros}5e{len(zeros)}", f"-{zeros}", f"0.{zeros}e{chance.randint(-999, 999)}"]
    forms += [f"1{zeros}e-{len(zeros)}"]
    return chance.choice(forms)


def short(chance: random.Random) -> str:
    """Return up to six random characters that can occur in a number."""
    return "".join(chance.choices(f"{DIGITS}{DIGITS}..eE+-", k=chance.randint(0, 6)))


def damaged(chance: random.Random) -> str:
    """Return a number with one character added, removed or replaced, or a word that some parsers accept as a number."""
    if chance.random() < 0.2:
        return chance.choice(WORDS)
    text = chance.choice([score, any_decimal, printed])(chance)
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(["", chance.choice(FOREIGN)]) + text[at + chance.randint(0, 1) :]


Kind = Callable[[random.Random], str]
# Functions that generate random strings, nearly all of which are valid numbers.
SOUND: list[Kind] = [score, fraction, printed, halfway, subnormal, padded]
KINDS: list[Kind] = [*SOUND, any_decimal, largest, long, short, damaged]


def read(texts: list[str]) -> tuple[list[float], list[bool]]:
    """Parse tokens with the kernels. Return the values, and whether the kernels accepted each token as a number."""
    tokens = [text.encode() for text in texts]
    data = np.frombuffer(b" " + b"".join(token + b" " for token in tokens) + bytes(24), np.uint8)
    values, ends = np.empty(len(tokens)), np.empty(len(tokens), np.int64)
    numbers_between_blanks(data, values, ends)
    stops = np.cumsum([len(token) + 1 for token in tokens])
    return values.tolist(), (ends == stops).tolist()


def answers(seed: int) -> tuple[Counter[str], list[str]]:
    """Parse random tokens with all implementations. Return counts by kind of token, and the differences found."""
    chance = random.Random(seed)
    kinds = chance.choices(KINDS, k=BATCH)
    texts = [kind(chance) for kind in kinds]
    wrong_ones = set(invalid_indices(texts, LIMITS))
    faults = [number_defect(text, LIMITS) if index in wrong_ones else None for index, text in enumerate(texts)]
    sound = [text for text, wrong in zip(texts, faults, strict=True) if wrong is None]
    counts, failures = Counter[str](), []
    if bits(parse(sound, LIMITS)) != bits(map(float, sound)):
        failures.append(f"tokens of seed {seed}: the reader's numbers are not float()'s")
    for kind, text, wrong, value, taken in zip(kinds, texts, faults, *read(texts), strict=True):
        counts[f"{kind.__name__.replace('_', ' ')}: {'refused' if wrong else 'read'}"] += 1
        refused = not taken and (parse([text], LIMITS) is None)
        same = refused if wrong else taken and bits([value]) == bits([float(text)])
        if not same:
            fast, theirs = value if taken else "refused", wrong or float(text)
            failures.append(f"tokens of seed {seed}: {text!r} is {fast!r}, not {theirs!r}")
    return counts, failures


def bits(numbers: Iterable[float] | None) -> bytes:
    """Return the bytes of float64 values, so that 0.0 and -0.0 compare as different."""
    return array("d", [] if numbers is None else numbers).tobytes()
