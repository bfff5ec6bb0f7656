"""Finds unusual submissions for organizers: files that several teams submitted, and sudden jumps in score.

No action is taken automatically, because such submissions can have an innocent explanation, such as a public baseline
or a better method.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from math import inf
from statistics import stdev
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max

from evaluator.digits import ROUNDING
from server.challenges.models import Phase
from server.leaderboards.differences import Vector, paired_differences, vectors_of
from server.submissions.models import Score, Submission

FILES_MAX = 50
STANDARD_ERRORS = 4.0
# At most 200 improvements, the largest ones, are examined, because each of them requires reading the bootstrap
# replicates of two evaluations. At most 50 jumps (unusually large improvements) are listed.
COMPARED_MAX, JUMPS_MAX = 200, 50


@dataclass(frozen=True, slots=True)
class IdenticalFile:
    """A file that several teams submitted, with its submissions in order of arrival."""

    sha256: str
    submissions: list[Submission]


@dataclass(frozen=True, slots=True)
class Improvement:
    """A submission to a phase that scored higher than all earlier submissions of its team."""

    team_id: int
    team: str
    submission_id: UUID
    file_name: str
    received_at: datetime
    evaluation: int
    previous: int
    before: float
    score: float

    @property
    def size(self) -> float:
        return self.score - self.before


@dataclass(frozen=True, slots=True)
class Jump:
    """An improvement of a team's score, and its size divided by the standard error of the score difference."""

    improvement: Improvement
    standard_errors: float

    @property
    def is_extreme(self) -> bool:
        """Whether the standard error is so close to 0 that the number of standard errors has no meaning."""
        return self.standard_errors > 1000


def identical_files(phase: Phase) -> list[IdenticalFile]:
    """Return the files that more than one team submitted, the most recently submitted first. Baselines do not count."""
    of_teams = Submission.objects.filter(phase=phase, team__is_baseline=False).order_by()
    groups = of_teams.values("sha256").annotate(teams=Count("team", distinct=True), last=Max("received_at"))
    keys = [one["sha256"] for one in groups.filter(teams__gt=1).order_by("-last")[:FILES_MAX]]
    found: dict[str, list[Submission]] = defaultdict(list)
    for one in of_teams.filter(sha256__in=keys).select_related("team").order_by("received_at"):
        found[one.sha256].append(one)
    return [IdenticalFile(key, found[key]) for key in keys]


def jumps(phase: Phase) -> list[Jump]:
    """Return improvements in public scores of more than STANDARD_ERRORS standard errors, most significant first.

    Improvements are left out unless bootstrap replicates are stored for both scores.
    """
    largest = sorted(improvements(phase), key=lambda one: -one.size)[:COMPARED_MAX]
    vectors = vectors_of({key for one in largest for key in (one.evaluation, one.previous)}, split="public")
    found = []
    for one in largest:
        error = standard_error(vectors.get(one.evaluation), vectors.get(one.previous))
        if error is not None and one.size > max(STANDARD_ERRORS * error, ROUNDING):
            found.append(Jump(one, one.size / error if error else inf))
    return sorted(found, key=lambda one: -one.standard_errors)[:JUMPS_MAX]


def improvements(phase: Phase) -> Iterator[Improvement]:
    """Yield each submission, except a team's first one, that scored higher than all earlier ones of its team."""
    best: dict[int, tuple[float, int]] = {}
    for team, name, submission, file_name, received_at, evaluation, value in scores_of(phase):
        before = best.get(team)
        if before is None or value > before[0]:
            best[team] = value, evaluation
            if before is not None:
                about = (team, name, submission, file_name, received_at, evaluation)
                yield Improvement(*about, previous=before[1], before=before[0], score=value)


def scores_of(phase: Phase) -> Any:
    """Return the public scores in a phase with their submissions, in order of arrival."""
    shown = {"evaluation__signature": phase.signature, "split": "public", "metric": phase.declared_track.headline}
    of_teams = {"evaluation__submission__phase": phase, "evaluation__submission__team__is_baseline": False}
    one = "evaluation__submission"
    names = (f"{one}__team", f"{one}__team__name", one, f"{one}__file_name", f"{one}__received_at")
    scores = Score.objects.filter(**of_teams, **shown, value__isnull=False)
    return scores.order_by(F(f"{one}__received_at"), "pk").values_list(*names, "evaluation", "value")


def standard_error(one: Vector | None, other: Vector | None) -> float | None:
    """Return the standard error of the score difference between two evaluations.

    It is the standard deviation of the differences between their bootstrap replicates. An evaluation is given as a
    pair: the seed of its random draws, and its replicates. Return None unless both have replicates with the same seed.

    >>> standard_error((0, [0.5, 0.75, 1.0]), (0, [0.25, 0.25, 0.25]))
    0.25
    """
    differences = paired_differences(one, other)
    return stdev(differences) if len(differences) > 1 else None
