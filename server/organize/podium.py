"""Runs the `podium` program as a child process, because the server never loads numpy."""

import os
import subprocess
import sys
from errno import ENOSPC

from django.conf import settings

NO_SPACE = 74


def run_podium(*words: str, expected: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
    """Run `podium …` and return the completed process.

    Raises OSError if the disk is full, and RuntimeError for another unexpected exit code.
    """
    ended = subprocess.run(
        [sys.executable, "-m", "evaluator", *words],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=settings.EVALUATION_WALL_SECONDS,
        check=False,
    )
    if ended.returncode == NO_SPACE:
        raise OSError(ENOSPC, os.strerror(ENOSPC))
    if ended.returncode not in expected:
        raise RuntimeError(f"podium {words[0]} exited with {ended.returncode}: {ended.stderr.strip()[-2000:]}")
    return ended
