"""Writes results: JSON, files that are replaced atomically, and styled text on terminals."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from evaluator.cli.usage import STDOUT

DECIMALS = 5  # Number of decimals of a score in a table; the output of --json is not rounded.


def write_json(answer: Mapping[str, Any], *, to: Path | None) -> bool:
    """Write ``answer`` as JSON to the destination of --json.

    Returns
    -------
    bool
        Whether to print the result as text too: true unless the JSON was written to standard output.
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
def atomic_file(path: Path) -> Iterator[TextIO]:
    """Open a file under a temporary name, and rename it when it is complete. Pipes and devices are opened directly."""
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


class TextStyle:
    """Styles text on a terminal, unless NO_COLOR is set or TERM is ``dumb``. Other output is not styled."""

    def __init__(self, stream: TextIO) -> None:
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self._enabled = stream.isatty() and not plain

    def bold(self, text: str) -> str:
        """Return ``text`` in bold."""
        return self._styled("1", text)

    def red(self, text: str) -> str:
        """Return ``text`` in red."""
        return self._styled("31", text)

    def faint(self, text: str) -> str:
        """Return ``text`` in a faint color."""
        return self._styled("2", text)

    def _styled(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._enabled else text
