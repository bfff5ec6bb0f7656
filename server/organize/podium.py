"""Runs the `podium` program as a child process, because the server never loads numpy."""

import subprocess
import sys

from django.conf import settings


def run_podium(*words: str, expected: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
    """Run `podium …` and return the completed process. Raises RuntimeError for an unexpected exit code."""
    ended = subprocess.run(
        [sys.executable, "-m", "evaluator", *words],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=settings.EVALUATION_WALL_SECONDS,
        check=False,
    )
    if ended.returncode not in expected:
        raise RuntimeError(f"podium {words[0]} ended with {ended.returncode}: {ended.stderr.strip()[-2000:]}")
    return ended
