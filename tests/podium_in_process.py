"""Runs the program `podium` in the test process, because starting a child process takes about a second."""

import subprocess
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from evaluator.cli import main


def run_here(
    folder: Path, words: tuple[str, ...], report: Callable[[str], None] | None
) -> "subprocess.CompletedProcess[str]":
    """Run `podium` in this process. Tests replace `server.organize.podium.run_in` with this function.

    `report` is called with each line of the output, but only after the program has ended.
    """
    said, errors = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(errors):
        patch.setattr(tempfile, "tempdir", str(folder))
        code = main(words)
    for line in said.getvalue().splitlines() if report else ():
        report(line)
    return subprocess.CompletedProcess(words, code, said.getvalue(), errors.getvalue())
