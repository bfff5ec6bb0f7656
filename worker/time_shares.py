"""Reserves a tenth of a worker's time for jobs of lower priority, so that they progress while many submissions arrive.

New submissions come before reruns, which score submissions again. Among reruns, the intervals of new scores come before
rescorings and explanations. Without time shares, a rescoring would not progress while submissions keep arriving.
"""

from dataclasses import dataclass

from server.submissions.models import Rerun, Submission

SHARE = 0.1
# Jobs of lower priority get a turn when they are owed this many seconds, that is, after 9 s of jobs of higher priority.
TURN_SECONDS = 1.0


@dataclass
class TimeShare:
    """Counts how many seconds a process owes to jobs of lower priority.

    If a job takes longer than the time owed, the time owed becomes negative, so the next turn is due later.
    """

    owed: float = 0.0

    @property
    def is_due(self) -> bool:
        return self.owed >= TURN_SECONDS

    def count_above(self, seconds: float) -> None:
        """Increase the time owed after a job of higher priority."""
        self.owed += seconds * SHARE / (1 - SHARE)

    def count_below(self, seconds: float) -> None:
        """Subtract the time of a job of lower priority. If it ran before its turn, cancel the time owed instead."""
        self.owed = self.owed - seconds if self.is_due else min(self.owed, 0.0)

    def forgive(self) -> None:
        """Cancel the time owed, because this process cannot run any job of lower priority now."""
        self.owed = min(self.owed, 0.0)


# The time shares of this process. `of_reruns` reserves time for reruns, which otherwise wait for first scorings.
# `of_late_reruns` reserves time for rescorings and explanations, which otherwise wait for the intervals of new scores.
of_reruns, of_late_reruns = TimeShare(), TimeShare()


def is_late(rerun: Rerun) -> bool:
    """Return whether a rerun is for a rescoring or an explanation, which come after the intervals of new scores."""
    return rerun.purpose != Rerun.Purpose.INTERVALS or not rerun.truth.active


def count(job: Submission | Rerun, seconds: float) -> None:
    """Update the shares of this process after a job that took the given number of seconds."""
    if isinstance(job, Submission):
        return of_reruns.count_above(seconds)
    of_reruns.count_below(seconds)
    (of_late_reruns.count_below if is_late(job) else of_late_reruns.count_above)(seconds)
