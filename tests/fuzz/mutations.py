"""Mutations of a submission. Each takes the bytes of a file and returns changed bytes, which may still be valid."""

import gzip
import random
import re
import zlib
from collections.abc import Callable

from tests.fuzz import tokens

TEXTS = ["", "x", "!", "a!", "é", "\u2028", "\x85", "\x7f", "\ufeff", "unknown", "UNKNOWN", "on", "is", "a b", "root"]
TEXTS += ["a", "/m/a", "/m/a/", "/m", "00ff", "00FF", "exactly16letters", "exactly16letters!", "Ünïcode", "Ünïcod"]
TEXTS += ["y" * length for length in (7, 8, 9, 15, 16, 17, 255, 256, 257, 300)] + ["é" * 256, "é" * 257]
TEXTS += ["ImageID", "PredictionString", "LabelName", "Score", "XMin", "xmax ", "YMin1"]
BYTES = [b"\0", b"\r", b"\n", b"\r\n", b"\n\r", b'"', b'""', b",", b",,", b" ", b"\t", b"  \t", b"\x0b", b"\x1f"]
BYTES += [b"\x7f", b"\x80", b"\xc3", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
BYTES += [b";", b"#", b"\\", b"PK\x03\x04", b"\x1f\x8b", b"%PDF", b"PAR1"]
ENDS = [b"\n", b"\r\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n"]
TOKEN = re.compile(rb"[^ ,\t\r\n]+")
NUMBER = re.compile(rb"(?<=[ ,\t])[0-9][0-9.]*(?=[ ,\t\r\n])")
TEXT = re.compile(rb"[^ ,\t\r\n0-9][^ ,\t\r\n]*")


def flipped(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data)) if data else 0
    return data[:at] + bytes([chance.getrandbits(8)]) + data[at + 1 :]


def inserted(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice([chance.choice(BYTES), chance.randbytes(chance.randint(1, 5))]) + data[at:]


def deleted(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + data[at + chance.choice([1, 1, 2, 10, 100]) :]


def cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randint(0, len(data))]


def swapped_token(chance: random.Random, data: bytes) -> bytes:
    """Replace a token with a random number, an unexpected string or another token from the file."""
    found = list(TOKEN.finditer(data))
    if not found:
        return data
    token, other = chance.choice(found), chance.choice(found).group().decode("latin-1")
    other = chance.choice([chance.choice(tokens.KINDS)(chance), chance.choice(TEXTS), other])
    return data[: token.start()] + other.encode() + data[token.end() :]


def other_numbers(chance: random.Random, data: bytes) -> bytes:
    """Replace some or all numbers in a file with random numbers."""
    share = chance.choice([0.01, 0.1, 1.0])

    def other(found: re.Match[bytes]) -> bytes:
        return chance.choice(tokens.SOUND)(chance).encode() if chance.random() < share else found.group()

    return NUMBER.sub(other, data)


def other_texts(chance: random.Random, data: bytes) -> bytes:
    """Replace every occurrence of a string with an unexpected string or another string from the file."""
    header, newline, rest = data.partition(b"\n")
    found = TEXT.findall(rest)
    if not found:
        return data
    one = chance.choice(found)
    return header + newline + rest.replace(one, other_text(chance, one, chance.choice(found)))


def other_text(chance: random.Random, one: bytes, other: bytes) -> bytes:
    """Return, at random, ``other``, an unexpected string, or a string that is almost equal to ``one``."""
    at = chance.randint(0, len(one))
    near = one[:at] + chance.choice([b"", b"x", b"!", one]) + one[at + chance.randint(0, 1) :]
    return chance.choice([other, other, near, near, chance.choice(TEXTS).encode()])


def spaced(chance: random.Random, data: bytes) -> bytes:
    """Insert spaces or tabs before or after some of the separators between a file's tokens, cells or lines."""
    gap = chance.choice([b" ", b"\t", b"  ", b" \t"])
    share, mark = chance.random() ** 3, chance.choice([rb"[ ,]", rb",", rb" ", rb"\n"])

    def wider(found: re.Match[bytes]) -> bytes:
        return chance.choice([gap + found.group(), found.group() + gap]) if chance.random() < share else found.group()

    return re.sub(mark, wider, data)


def shuffled_lines(chance: random.Random, data: bytes) -> bytes:
    """Shuffle the lines and repeat some of them. If every row is one prediction, the file remains valid."""
    header, newline, rest = data.partition(b"\n")
    lines = rest.removesuffix(b"\n").split(b"\n")
    lines += chance.choices(lines, k=chance.choice([0, 1, 3]))
    chance.shuffle(lines)
    return header + newline + b"\n".join(lines) + b"\n"


def moved_lines(chance: random.Random, data: bytes) -> bytes:
    """Repeat, delete, swap, join or split random lines of a file."""
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(5)
    if kind == 0:
        lines.insert(other, lines[one])
    elif kind == 1:
        del lines[one]
    elif kind == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 3:
        lines[one : one + 2] = [chance.choice([b"", b" ", b","]).join(lines[one : one + 2])]
    else:
        at = chance.randint(0, len(lines[one]))
        lines[one : one + 1] = [lines[one][:at], lines[one][at:]]
    return b"\n".join(lines)


def blank_lines(chance: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    blank = chance.choice([b"", b" ", b"\t ", b"\r", b" \r", b"\x0b"])
    count = chance.choice([1, 1, 2, 5, 5_000])
    at = chance.choice([chance.randint(0, len(lines)), len(lines)])
    lines[at:at] = [blank] * count
    return b"\n".join(lines)


def line_ends(chance: random.Random, data: bytes) -> bytes:
    """Replace some or all line endings of a file with line endings of another kind."""
    end, share = chance.choice(ENDS), chance.choice([1.0, 1.0, 0.1])
    return re.sub(rb"\r?\n", lambda found: end if chance.random() < share else found.group(), data)


def quoted(chance: random.Random, data: bytes) -> bytes:
    """Quote some or all cells of a file, correctly or incorrectly."""
    share, wrong = chance.choice([1.0, 0.3, 0.02]), chance.random() < 0.2

    def cell(found: re.Match[bytes]) -> bytes:
        if chance.random() >= share:
            return found.group()
        return b'"' + found.group() + (chance.choice([b"", b'""', b'" ']) if wrong else b'"')

    return re.sub(rb"[^,\r\n]+", cell, data)


def moved_columns(chance: random.Random, data: bytes) -> bytes:
    """Reorder the columns of a file, and change the spelling of their names."""
    rows = [line.rstrip(b"\r").split(b",") for line in data.split(b"\n")]
    order = chance.sample(range(len(rows[0])), len(rows[0]))
    rows = [[row[index] for index in order if index < len(row)] for row in rows]
    rows[0] = [chance.choice([cell, cell.upper(), cell.lower(), b" " + cell, b'"' + cell + b'"']) for cell in rows[0]]
    return b"\n".join(b",".join(row) for row in rows)


def other_columns(chance: random.Random, data: bytes) -> bytes:
    """Move, insert or delete a column name in the header of a file, but leave the rows as they are."""
    header, newline, rest = data.partition(b"\n")
    cells = header.split(b",")
    index, kind = chance.randrange(len(cells)), chance.randrange(3)
    if kind == 0:
        cells.append(cells.pop(index))
    elif kind == 1:
        cells.insert(index, chance.choice([cells[0], b"Extra", b"", b"PredictionString"]))
    else:
        del cells[index]
    return b",".join(cells) + newline + rest


def repeated(chance: random.Random, data: bytes) -> bytes:
    """Repeat a piece of the file many times, which makes lines long or adds rows."""
    start = chance.randint(0, len(data))
    stop = start + chance.choice([1, 2, 12, 50, 500])
    return data[:start] + data[start:stop] * chance.choice([2, 3, 10, 100]) + data[stop:]


def spliced(chance: random.Random, data: bytes) -> bytes:
    """Copy a random piece of a file to another position in the file."""
    start, at = chance.randint(0, len(data)), chance.randint(0, len(data))
    return data[:at] + data[start : start + chance.randint(1, 200)] + data[at:]


def edited(chance: random.Random, data: bytes) -> bytes:
    """Change the file as a text editor might: add a byte order mark or blank lines, or remove the last line ending."""
    mark = chance.choice([b"", b"\xef\xbb\xbf"])
    return mark + data.removeprefix(mark).rstrip(b"\n") + chance.choice([b"", b"\n", b"\n\n", b" \n \n", b"\r\n"])


Mutation = Callable[[random.Random, bytes], bytes]
HARMLESS: list[Mutation] = [other_numbers, other_texts, spaced, moved_columns, shuffled_lines, line_ends, edited]
HARMFUL: list[Mutation] = [flipped, inserted, deleted, cut, swapped_token, swapped_token, swapped_token]
HARMFUL += [moved_lines, blank_lines, line_ends, quoted, other_columns, repeated, spliced]


def mutated(chance: random.Random, data: bytes) -> bytes:
    """Apply up to five random mutations to a file.

    With a probability of 2/3, only mutations that can leave the file valid are used.
    """
    ways = chance.choice([HARMLESS, HARMLESS, HARMLESS + HARMFUL])
    for _ in range(chance.choice([0, 1, 1, 1, 2, 5])):
        data = chance.choice(ways)(chance, data)
    return data


def zipped(chance: random.Random, data: bytes) -> bytes:
    """Compress a file as two gzip members, and sometimes damage the result."""
    at = chance.choice([len(data), chance.randint(0, len(data)), chance.randint(0, min(len(data), 40))])
    packed = b"".join(gzip.compress(piece, chance.choice([0, 1, 9]), mtime=0) for piece in (data[:at], data[at:]))
    packed += chance.choice([b"", b"", bytes(chance.randint(1, 600)), b"\x1f\x8b", b"garbage"])
    damage = chance.choice([flipped, cut, deleted, inserted, repeated])
    return packed if chance.random() < 0.6 else damage(chance, packed)


def bomb(chance: random.Random, data: bytes) -> bytes:
    """Append many repetitions of one piece to a file, and compress it with gzip."""
    squeezer = zlib.compressobj(9, wbits=31)
    return squeezer.compress(data + chance.choice([b"\n", b" ", b"0", data[-40:]]) * 3_000) + squeezer.flush()
