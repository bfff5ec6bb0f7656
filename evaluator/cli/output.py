"""Answers to where they belong: JSON, files that appear whole, colour for terminals only."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from evaluator.cli.usage import STDOUT

DECIMALS = 5  # of a number in a table; --json has them all


def write_json(answer: Mapping[str, Any], *, to: Path | None) -> bool:
    """Write ``answer`` where --json says.

    Returns
    -------
    bool
        Whether standard output is left for the text: not when the JSON went there.
    """
    if to is None:
        return True
    text = json.dumps(answer, allow_nan=False) + "\n"
    if to == STDOUT:
        sys.stdout.write(text)
        return False
    with whole_file(to) as file:
        file.write(text)
    return True


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a file that takes its name when it is complete; what is no file (a pipe, /dev/null) is written as it is."""
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


class Ink:
    """Bold and colour where somebody looks; plain text on a pipe, with NO_COLOR, and on a dumb terminal."""

    def __init__(self, stream: TextIO) -> None:
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self._on = stream.isatty() and not plain

    def bold(self, text: str) -> str:
        """Return ``text`` for the one thing to see first."""
        return self._inked("1", text)

    def red(self, text: str) -> str:
        """Return ``text`` for what is wrong."""
        return self._inked("31", text)

    def faint(self, text: str) -> str:
        """Return ``text`` for what may be overlooked."""
        return self._inked("2", text)

    def _inked(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on else text
