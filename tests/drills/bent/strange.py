"""A worker that kills itself or pauses while it scores a file.

It kills itself if the file begins with `poison`. It pauses as long as PODIUM_HOME contains a file named `hold`.
"""

import os
import signal
import time

from django.conf import settings

from evaluator import scoring
from evaluator.report import Report
from evaluator.request import ScoringRequest
from worker import app

__all__ = ["app"]

POISON = b"poison"
score_really = scoring.score


def score(request: ScoringRequest) -> Report:
    if request.submission.read_bytes().startswith(POISON):
        # End the worker process as if it had run out of memory, or as if a library had crashed.
        os.kill(os.getpid(), signal.SIGKILL)
    request.resources.progress("checking", 0.0)
    while (settings.PODIUM_HOME / "hold").exists():
        time.sleep(0.05)
    return score_really(request)


scoring.score = score
