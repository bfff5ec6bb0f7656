"""Reads submissions in JSON. The position of a defect is its path in the JSON, such as ``$[3].boxes[0]``."""

import gc
import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from evaluator.files.cells import shortened
from evaluator.files.lines import sound_chunks, text_parts
from evaluator.files.source import Source
from evaluator.problems import MOST_DEFECTS, Problem, Stop

TOP = "$"
SHOWN_CHARACTERS = 256
NO_CHARACTER = re.compile(r"[\ud800-\udfff]|(?<!\\)(?:\\\\)*\\u0000")
TYPE_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a whole number", float: "a number"}


class Document:
    """A submission in JSON, with methods to check its values.

    Parameters
    ----------
    source : Source

    Attributes
    ----------
    value : Any
        The parsed content of the file.

    Raises
    ------
    Stop
        If the file cannot be read as JSON. The findings then contain the reason.
    """

    def __init__(self, source: Source) -> None:
        self.findings = source.findings
        try:
            self.value, repeated = parse_json(_text(source))
        except RecursionError:
            self._stop("bad_json", "lists or objects are nested too deeply")
        except json.JSONDecodeError as error:
            self._stop("bad_json", f"this is not JSON at character {error.colno}: {error.msg}", error.lineno)
        except ValueError as error:
            self._stop("bad_json", str(error))
        for path in repeated:
            self.add_defect(path, "this key occurs twice in the same object")

    def _stop(self, code: str, message: str, line: int | None = None) -> NoReturn:
        self.findings.add(Problem(code, message, line=line))
        raise Stop(code)

    def add_defect(self, path: str, message: str, *, code: str = "bad_json", image: str | None = None) -> None:
        """Record a defect for the value at the given path in a submitted JSON file."""
        problem = None
        if self.findings.shows(code):
            problem = Problem(code, storable(message), column=storable(path), image=image and storable(image))
        self.findings.count(code, problem)

    def expect(self, value: Any, kind: type, path: str) -> bool:
        """Return whether a value has the expected type. If not, record a defect. Booleans do not count as numbers."""
        if type(value) is kind:
            return True
        self.add_defect(path, f"{_quoted(value)} is not {TYPE_NAMES[kind]}")
        return False

    def expect_number(self, value: Any, path: str) -> None:
        """Record a defect if a value is not a finite number. Booleans do not count as numbers."""
        if type(value) not in (int, float):
            self.add_defect(path, f"{_quoted(value)} is not a number")
        elif not is_finite(value):
            self.add_defect(path, f"{_quoted(value)} is not finite", code="not_finite")

    def fields(self, value: Any, kinds: dict[str, type], path: str) -> bool:
        """Return whether a value is a JSON object with exactly the given keys and types.

        If not, record a defect for each missing key, unknown key and value of the wrong type.
        """
        if not self.expect(value, dict, path):
            return False
        if len(value) == len(kinds) and all(type(value.get(name)) is kind for name, kind in kinds.items()):
            return True
        for name in (name for name in kinds if name not in value):
            self.add_defect(f"{path}.{name}", "this key is missing")
        for name in (name for name in value if name not in kinds):
            self.add_defect(f"{path}.{name[:60]}", f"unknown key; expected one of: {', '.join(kinds)}")
        for name, kind in kinds.items():
            if name in value:
                self.expect(value[name], kind, f"{path}.{name}")
        return False


def is_finite(value: float) -> bool:
    """Return whether a number is finite as a float64, to which an integer is rounded.

    >>> is_finite(10**308), is_finite(10**309)
    (True, False)
    """
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def storable(text: str) -> str:
    r"""Return the first 256 characters of ``text``. NUL and surrogates, which databases cannot store, are replaced.

    >>> storable("a\0\ud800")
    'a\ufffd?'
    """
    return text[:SHOWN_CHARACTERS].encode(errors="replace").decode().replace("\0", "\ufffd")


def matrix(rows: Sequence[Any], width: int) -> NDArray[np.float64] | None:
    """Convert N lists of ``width`` numbers to an array of shape (N, width).

    Return None if a list has a different length, or contains anything but finite numbers. Booleans are not numbers.

    >>> matrix([[1, 2.5]], 2)
    array([[1. , 2.5]])
    >>> matrix([[1, True]], 2) is None
    True
    """
    if not (set(map(type, rows)) <= {list} and set(map(len, rows)) <= {width}):
        return None
    if not set(map(type, chain.from_iterable(rows))) <= {int, float}:
        return None
    try:
        values = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * width)
    except OverflowError:
        return None
    return values.reshape(-1, width) if np.isfinite(values).all() else None


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection in a ``with`` block or, as a decorator, during a function call.

    The values of a large JSON file are millions of objects. Garbage collection would go through all of them several
    times and free no memory. The values should therefore be deleted before it is enabled again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


Repeated = dict[int, tuple[dict[str, Any], str]]
"""Maps the Python ``id`` of each JSON object that has a repeated key to the object and this key."""


def parse_json(text: str) -> tuple[Any, Iterator[str]]:
    """Parse JSON. Return the value, and an iterator over the paths of repeated keys, in file order.

    If an object has a key several times, only its last value is kept. The other values are not searched for
    repeated keys.

    Raises
    ------
    ValueError, RecursionError

    Examples
    --------
    >>> value, repeated = parse_json('[{"a": 1, "a": 2}]')
    >>> value, list(repeated)
    ([{'a': 2}], ['$[0].a'])
    """
    repeated: Repeated = {}
    # When `repeated` is full, this is the last object with a repeated key, and the keys and values as in the file. The
    # earlier objects may all be inside a value that this object has lost because the key of the value is repeated.
    last: tuple[dict[str, Any], list[tuple[str, Any]]] | None = None

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal last
        found = dict(pairs)
        if len(found) < len(pairs):
            if len(repeated) < MOST_DEFECTS:
                repeated[id(found)] = found, _repeated_key(found, pairs)
            else:
                last = found, pairs
        return found

    with without_garbage_collection():
        try:
            value = json.loads(text, object_pairs_hook=object_of)
        except json.JSONDecodeError:
            raise
        except ValueError:
            # Python limits the number of digits of an integer that is read from a string.
            raise ValueError(f"an integer has more than {sys.get_int_max_str_digits():,} digits") from None
    if last:
        repeated[id(last[0])] = last[0], _repeated_key(*last)
    return value, _paths(value, repeated)


def _repeated_key(found: dict[str, Any], pairs: Sequence[tuple[str, Any]]) -> str:
    """Return a key that occurs more than once in the ``pairs`` of a JSON object. ``found`` is the dict of the pairs.

    >>> _repeated_key({"a": 2, "b": 1}, [("a", 0), ("b", 1), ("a", 2)])
    'a'
    """
    kept = iter(found)
    return next(name for name, _ in pairs if name != next(kept, None))


def parse_truth_json(text: str) -> tuple[Any, Iterator[str]]:
    r"""Parse a JSON file of a ground truth with :func:`parse_json`. All strings must be encodable as UTF-8.

    Raises
    ------
    ValueError, RecursionError
        ValueError is also raised if a string has an escape for a NUL character or for half a surrogate pair.

    Examples
    --------
    >>> parse_truth_json('["\\ud800"]')
    Traceback (most recent call last):
    ...
    ValueError: a string contains NUL or an unpaired surrogate, which cannot be stored
    """
    value, repeated = parse_json(text)
    if "\\u" in text and NO_CHARACTER.search(json.dumps(value, ensure_ascii=False)):
        raise ValueError("a string contains NUL or an unpaired surrogate, which cannot be stored")
    return value, repeated


def _paths(value: Any, repeated: Repeated) -> Iterator[str]:
    # Number of objects with a repeated key whose paths have not been found yet. It may never reach 0: of several values
    # with the same key, `value` contains only the last, so objects inside the other values are not found.
    left = len(repeated)
    steps: list[str | int] = []
    waiting: list[Iterator[tuple[str | int, Any]]] = [iter([(TOP, value)])]
    while left and waiting:
        for step, node in waiting[-1]:
            kind = type(node)
            if (kind is dict or kind is list) and node:
                steps.append(step)
                if id(node) in repeated:
                    left -= 1
                    yield _path([*steps, repeated[id(node)][1]])
                waiting.append(iter(node.items() if kind is dict else enumerate(node)))
                break
        else:
            waiting.pop()
            del steps[-1:]


def _path(steps: Sequence[str | int]) -> str:
    """Return a path in the JSON as a string. Long paths are truncated.

    >>> _path([TOP, "a", 0])
    '$.a[0]'
    """
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step[:SHOWN_CHARACTERS]}" if path else step
        if len(path) > SHOWN_CHARACTERS:
            break
    return path


def _text(source: Source) -> str:
    """Return the whole file as a string. If it is too large, empty or not UTF-8, record a defect and raise Stop."""
    data, limit = bytearray(), source.limits.json_bytes
    parts = sound_chunks(source.path, source.limits, source.findings, source.progress)
    for part in text_parts(parts, source.findings, "JSON"):
        data += part
        if len(data) > limit:
            source.findings.add(Problem("too_large", f"a JSON file can have at most {limit:,} bytes"))
            raise Stop("too_large")
    if not data or data.isspace():
        source.findings.add(Problem("empty", "the file is empty"))
        raise Stop("empty")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        source.findings.add(Problem("encoding", message, line=line))
        raise Stop("encoding") from None


def _quoted(value: Any) -> str:
    if isinstance(value, dict | list):
        return TYPE_NAMES[type(value)]
    return shortened(value) if isinstance(value, str) else json.dumps(value)[:60]
