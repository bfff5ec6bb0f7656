"""Generates hostile files, which participants could upload to keep a worker busy for a long time.

A ``Maker`` is a function that takes a valid file and returns a hostile file. The hostile file has a size of about
:data:`SIZE` bytes, or decompresses to this size.
"""

import base64
import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evaluator.catalog import Form

SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class Good:
    """A submission that is scored without defects, split into its parts.

    ``header`` is empty if the file has no header. ``rows`` are the lines below the header, or the JSON document as the
    only row.
    """

    form: Form
    strings: bool
    header: bytes
    rows: tuple[bytes, ...]
    chance: random.Random

    @property
    def content(self) -> bytes:
        """The content of the valid submission, in bytes."""
        return b"".join(line + b"\n" for line in (self.header, *self.rows) if line)

    @property
    def first(self) -> list[bytes]:
        """The cells of the first row of the valid submission."""
        return self.rows[0].split(b",")

    @property
    def label(self) -> str:
        """The label of the first prediction in the valid submission."""
        return next(
            row.replace(b",", b" ").split(b" ")[len(self.form.of_image)].decode()
            for row in self.rows
            if row[-1:] != b","
        )

    @property
    def width(self) -> int:
        """The number of values of a prediction: tokens in a prediction string or, without such strings, columns."""
        return len(self.form.tokens) if self.strings else len(self.form.columns)

    def with_rows(self, rows: Iterable[bytes], end: bytes = b"\n") -> bytes:
        """Return a file with the same header and with the given rows, repeated until the file has ``SIZE`` bytes."""
        drawn, body, size = list(rows), [], len(self.header)
        while size < SIZE:
            body += drawn
            size += sum(map(len, drawn)) + len(drawn) * len(end)
        return end.join([*([self.header] if self.header else []), *body, b""])

    def row_of(self, cell: bytes) -> bytes:
        """Return a row with the image of the first row and one prediction, whose values are all ``cell``."""
        if self.strings:
            return b",".join([*self.first[: len(self.form.of_image)], b" ".join([cell] * self.width)])
        return b",".join([self.first[0], *[cell] * (self.width - 1)])


Maker = Callable[[Good], bytes]


def one_line(piece: bytes, *, beside: bool = True) -> Maker:
    """Return a function that creates files with one long line, in which ``piece`` is repeated."""

    def made(good: Good) -> bytes:
        start = b",".join(good.first[: len(good.form.of_image)]) + b"," if beside else b""
        return good.with_rows([start + piece * (SIZE // len(piece))])

    return made


def lines(line: bytes, end: bytes = b"\n") -> Maker:
    """Return a function that creates submissions in which every row is the given line."""
    return lambda good: good.with_rows([line] * 1000, end)


def numbered(template: str, good: Good) -> bytes:
    """Return a file whose lines are created from a template with consecutive numbers."""
    return good.with_rows(template.format(number).encode() for number in range(SIZE // len(template)))


def sparse(good: Good) -> bytes:
    """Return the valid submission, changed so that every fiftieth row contains an invalid number."""
    rows = [row.replace(b".", b",.", 1) if index % 50 == 0 else row for index, row in enumerate(good.rows)]
    return good.with_rows(row.replace(b"0,.", b"x.", 1).replace(b",.", b"x.", 1) for row in rows)


def members(piece: bytes) -> Maker:
    """Return a function that creates gzip files of about ``SIZE`` compressed bytes with many small members."""
    packed = gzip.compress(piece, mtime=0)
    return lambda good: gzip.compress(good.content, mtime=0) + packed * (SIZE // len(packed))


def bomb(piece: bytes) -> Maker:
    """Return a function that creates gzip files in which ``piece`` is repeated (gzip bombs).

    The compression ratio is just below the limit.
    """

    def made(good: Good) -> bytes:
        noise = good.chance.randbytes(2 * SIZE // 150).hex().encode()
        return gzip.compress(good.header + b"\n" + piece * (2 * SIZE // len(piece)) + noise, 6, mtime=0)

    return made


CSV: dict[str, Maker] = {
    "rows of one letter": lines(b"a"),
    "rows of commas": lambda good: good.with_rows([b"," * (good.first and len(good.first) - 1)] * 1000),
    "blank lines, then a row": lambda good: good.with_rows([b"\n" * SIZE, good.rows[0]]),
    "blank lines at the end": lambda good: good.with_rows([good.rows[0], b" \n" * (SIZE // 2)]),
    "CR only, bad rows": lines(b"a", b"\r"),
    "bad numbers": lambda good: good.with_rows([good.row_of(b"x")] * 1000),
    "long numbers": lambda good: good.with_rows([good.row_of(b"0." + b"1" * 70)] * 100),
    "numbers beyond float64": lambda good: good.with_rows([good.row_of(b"1e999")] * 1000),
    "bad numbers in some rows": sparse,
    "a prediction string of bad tokens": lambda good: one_line(b"x " * good.width)(good),
    "a prediction string with extra tokens": lambda good: one_line(b"x " * 2 * good.width)(good)[:-3] + b"\n",
    "a prediction string of blanks": one_line(b" "),
    "a header of many cells": lambda good: b"a," * (SIZE // 2) + b"\n" + good.content,
    "rows of quotes that do not match": lines(b'"a'),
    "a row of quoted cells": one_line(b'"",', beside=False),
    "a cell of quoted quotes": lambda good: good.with_rows([b'"' + b'""' * (SIZE // 2) + b'"']),
    "line breaks in quotes": lines(b'a,"b\nc"'),
    "rows of invalid UTF-8": lines(b"\xff"),
    "rows of NUL": lines(b"\0"),
    "invalid UTF-8 in some rows": lambda good: good.with_rows([*good.rows[:50], b"\xff"]),
    "unknown images": lambda good: numbered("unknown{:06d}" + "," * (len(good.first) - 1), good),
    "one image repeated": lambda good: good.with_rows([good.rows[0]] * 1000),
    "long ids": lambda good: numbered("a" * 300 + "{:06d}" + "," * (len(good.first) - 1), good),
    "gzip: empty members": members(b""),
    "gzip: members of one byte": members(b"\n"),
    "gzip: a bomb of bad rows": bomb(b"a\n"),
    "gzip: a bomb of blank lines": bomb(b"\n"),
}


def document(piece: str, start: str = "[", end: str = "]") -> Maker:
    """Return a function that creates JSON documents of about ``SIZE`` bytes in which ``piece`` is repeated."""
    return lambda good: (start + ",".join([piece] * (SIZE // (len(piece) + 1))) + end).encode()


def keyed(piece: str, start: str, end: str) -> Maker:
    """Return a function that creates JSON documents that repeat ``piece``, with ``#`` replaced by 0, 1, 2 and so on."""
    count = SIZE // (len(piece) + 4)
    return lambda good: (start + ",".join(piece.replace("#", str(index)) for index in range(count)) + end).encode()


def inside(piece: str) -> Maker:
    """Return a function that creates JSON documents that are valid except for one list, which repeats ``piece``."""

    def made(good: Good) -> bytes:
        value = json.loads(good.content)
        if isinstance(value, list):
            value[0]["boxes"] = "#"
        else:
            value["image_to_sentence"][next(iter(value["image_to_sentence"]))] = "#"
        text = json.dumps(value).replace('"#"', "[" + ",".join([piece] * (SIZE // (len(piece) + 1))) + "]", 1)
        return text.encode()

    return made


JSON: dict[str, Maker] = {
    "empty lists": document("[]"),
    "empty objects": document("{}"),
    "numbers": document("0"),
    "strings": document('"a"'),
    "nested lists": lambda good: b"[" * SIZE,
    "many nested lists": document("[" * 900 + "]" * 900),
    "a repeated key at the end of many": keyed('"#":0', "{", ',"0":0}'),
    "a repeated key in every object": document('{"a":0,"a":1}'),
    "a repeated key in an overridden value": document('{"a":{"b":0,"b":0},"a":1}'),
    "repeated keys in many overridden values": document('{"b":0,"b":0}', '{"a":[', '],"a":0}'),
    "a repeated key after a long one": document("{}", '{"' + "a" * (SIZE // 4) + '":[', '],"b":0,"b":0}'),
    "unknown keys": keyed('"#":0', "{", "}"),
    "entries of the wrong type": document('{"image_id":0,"sentence_id":"0","boxes":{}}'),
    "unknown entries": keyed('{"image_id":"#","sentence_id":0,"boxes":[]}', "[", "]"),
    "unknown queries": keyed('"#":[]', '{"sentence_to_image":{},"image_to_sentence":{', "}}"),
    "numbers of 4,000 digits": document("1" * 4000),
    "nulls in a list": inside("null"),
    "strings in a list": inside('"x"'),
    "one long string repeated in a list": inside('"' + "x" * 20 + '"'),
    "lists in a list": inside("[[]]"),
    "boxes beyond float64": inside("[[1e999,0,0,0]]"),
    "boxes of three numbers": inside("[[0,0,0]]"),
    "a box of many numbers": lambda good: inside("[[" + "0," * (SIZE // 4) + "0]]")(good),
    "blanks": lambda good: b" " * SIZE,
    "blanks around values": document(" " * 30 + "0"),
    "escapes": document('"' + "\\u0000" * 50 + '"'),
    "invalid UTF-8 at the end": lambda good: document("0")(good) + b"\xff",
    "a truncated document": lambda good: good.content[:-3],
    "gzip: empty members": members(b""),
    "gzip: members of one byte": members(b" "),
    "gzip: a bomb of lists": lambda good: bomb(b"[],")(Good(good.form, False, b"[", good.rows, good.chance)),
}


def mask(lengths: bytes) -> str:
    """Compress the run lengths of a mask, and encode them in base64, as submissions do."""
    return base64.b64encode(zlib.compress(lengths, 9)).decode()


def masks(text: Callable[[int], str], sides: int = 0) -> Maker:
    """Return a function that creates files whose predictions have the masks ``text(0)``, ``text(1)`` and so on.

    If ``sides`` is not 0, it is used as the width and height of the image.
    """

    def made(good: Good) -> bytes:
        image, width, height, *_ = (cell.decode() for cell in good.first)
        label = good.label
        size = (str(sides),) * 2 if sides else (width, height)
        drawn = [text(index) for index in range(50)]
        if good.strings:
            string = " ".join(f"{label} 0.5 {each}" for each in drawn)
            count = -(-SIZE // len(string))
            return good.with_rows([",".join([image, *size, " ".join([string] * count)]).encode()])
        return good.with_rows(",".join([image, *size, label, "0.5", each]).encode() for each in drawn)

    return made


MASKS: dict[str, Maker] = {
    "masks of invalid base64": masks(lambda index: "?" * 20),
    "masks of invalid zlib data": masks(lambda index: base64.b64encode(b"a" * 20).decode()),
    "masks of 60,000 runs": masks(lambda index: mask(b"1" * (60_000 + index)), 2**14),
    "masks of 60,000 runs, of the image's size": masks(lambda index: mask(b"1" * (60_000 + index))),
    "masks of 60,000 long runs": masks(lambda index: mask(b"ooooo0" * (10_000 + index)), 2**14),
    "masks that are bombs": masks(lambda index: mask(bytes(10_000_000 + index)), 2**14),
    "masks with runs of invalid length": masks(lambda index: mask(b"0" * 60_000 + b"~" * (index + 1) + b"0"), 2**14),
    "masks of empty runs": masks(lambda index: mask(b"0" * (60_000 + index)), 2**14),
    "invalid sizes": masks(lambda index: "a", 99_999),
}
