"""The `podium` program as a child process: the server itself never loads numpy."""

import subprocess
import sys

from django.conf import settings


def run_podium(*words: str, expected: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
    """Run `podium …` and return how it ended; an exit code that is not expected is our fault."""
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
