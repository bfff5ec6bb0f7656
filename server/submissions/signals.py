"""The signal that scores of a phase have changed. It is sent in the transaction of the change, before its audit entry.

Its arguments are `phase`, the `teams` (ids) whose scores, final submissions or published scores changed, and the
`signature` of these scores, or None for all signatures.
"""

from collections.abc import Iterable

from django.dispatch import Signal

from server.challenges.models import Phase
from server.submissions.models import Submission

scores_changed = Signal()


def announce(phase: Phase, teams: Iterable[int], signature: str | None = None) -> None:
    """Send `scores_changed`. The caller has locked the teams, before any row of their submissions."""
    scores_changed.send(Submission, phase=phase, teams=[*teams], signature=signature)
