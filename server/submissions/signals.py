"""Signals for apps that depend on submissions.

`scores_changed`: scores in a phase have changed. The signal is sent in the transaction of the change, before its audit
entry. Its arguments are `phase`, `teams` (the ids of teams whose scores, published scores or choice of final
submissions changed), and `signature` (the evaluation signature of the changed scores, or None for all signatures).

`swept`: the sweeper has cleaned up after crashes. Receivers clean up the jobs of their own apps.

`files_swept`: the sweeper has also removed old files, which it does less often. Receivers remove old files of their own
apps.
"""

from collections.abc import Iterable

from django.dispatch import Signal

from server.challenges.models import Phase
from server.submissions.models import Submission

scores_changed = Signal()
swept = Signal()
files_swept = Signal()


def announce(phase: Phase, teams: Iterable[int], signature: str | None = None) -> None:
    """Send `scores_changed`. The caller must have locked the teams before locking any of their submissions."""
    scores_changed.send(Submission, phase=phase, teams=[*teams], signature=signature)
