"""Writes the output of commands: JSON, files that are replaced atomically, and styled text on terminals."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from evaluator.cli.usage import STDOUT

DECIMALS = 5  # Number of decimal places of scores in printed tables. The output of --json is not rounded.


def write_json(answer: Mapping[str, Any], *, to: Path | None) -> bool:
    """Write ``answer`` as JSON to the file or standard output given by --json. Without --json, write nothing.

    Returns
    -------
    bool
        Whether the caller should also print the result as text: true unless the JSON was written to standard output.
    """
    if to is None:
        return True
    text = json.dumps(answer, allow_nan=False) + "\n"
    if to == STDOUT:
        sys.stdout.write(text)
        return False
    with atomic_file(to) as file:
        file.write(text)
    return True


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces ``path`` when it is complete.

    For pipes and devices, which are written directly, it is ``path`` itself.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that replaces ``path`` when it is complete; see :func:`atomic_path`."""
    with atomic_path(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        yield file


class TextStyle:
    """Adds styles such as bold to text if the output is a terminal.

    Text is never styled if NO_COLOR is set, or if TERM is ``dumb``.
    """

    def __init__(self, stream: TextIO) -> None:
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self._enabled = stream.isatty() and not plain

    def bold(self, text: str) -> str:
        """Return ``text`` in bold if styles are enabled."""
        return self._styled("1", text)

    def red(self, text: str) -> str:
        """Return ``text`` in red if styles are enabled."""
        return self._styled("31", text)

    def faint(self, text: str) -> str:
        """Return ``text`` in a faint colour if styles are enabled."""
        return self._styled("2", text)

    def _styled(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._enabled else text
