"""Runs the `podium` program as a child process, because the server never loads numpy."""

import json
import os
import subprocess
import sys
from errno import ENOSPC
from typing import Any

from django.conf import settings

SUBMISSION_AT_FAULT, TRUTH_AT_FAULT, NO_SPACE = 2, 3, 74


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


def answer(*words: str) -> dict[str, Any]:
    """Run `podium … --json` and return its parsed output, with `errors` if the truth or submission is faulty."""
    ended = run_podium(*words, "--json", expected=(0, SUBMISSION_AT_FAULT, TRUTH_AT_FAULT))
    output: dict[str, Any] = json.loads(ended.stdout)
    return output
