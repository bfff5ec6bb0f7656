"""A worker whose scorer is killed by a poisonous file, and waits while there is a file `hold`."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluator import scoring
from evaluator.report import Report
from worker import app

__all__ = ["app"]

POISON = b"poison"
score_really = scoring.score


def score(track: str, truth: Path, submission: Path, *, progress: Callable[[str, float], None], **more: Any) -> Report:
    if submission.read_bytes().startswith(POISON):
        os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does where memory is short, or a faulty library
    progress("checking", 0.0)
    while (settings.PODIUM_HOME / "hold").exists():
        time.sleep(0.05)
    return score_really(track, truth, submission, progress=progress, **more)


scoring.score = score
