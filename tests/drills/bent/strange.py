"""A worker whose scorer is killed by a poisonous file, and waits while there is a file `hold`."""

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
        os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does where memory is short, or a faulty library
    request.resources.progress("checking", 0.0)
    while (settings.PODIUM_HOME / "hold").exists():
        time.sleep(0.05)
    return score_really(request)


scoring.score = score
