"""Decides which scores a viewer may see: on which splits, with how many decimals, and whether per class."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from evaluator.digits import Interval, published
from server.challenges.models import Phase
from server.compiled_queries import compiled_query, set_related
from server.submissions.models import Evaluation, Score, Submission

SPLITS = ("public", "private", "all")


@dataclass(frozen=True, slots=True)
class ScoreAccess:
    """The scores of a phase that a viewer may see at a given time.

    `decimals` is None if numbers are not rounded. If `ladder` is true, the phase uses ladder feedback: public scores of
    a submission are shown only if they clearly beat the team's best. If `exact_ends` is true, the ends of intervals
    are not rounded.
    """

    splits: frozenset[str]
    decimals: int | None
    classes: bool
    ladder: bool = False
    exact_ends: bool = False

    def rounded(self, value: float) -> float:
        """Return a value rounded for the viewer.

        Leaderboards are ordered by exact values, not by rounded ones.
        """
        return value if self.decimals is None else round(value, self.decimals)

    def number(self, value: float | None) -> float | None:
        return None if value is None else self.rounded(value)

    def interval(self, low: float | None, high: float | None) -> Interval | None:
        """Return the ends of a confidence interval, rounded for the viewer.

        Every interval that is shown must be rounded by this method. From exact ends, anyone who can guess the random
        bootstrap draws could find out which images a submission predicts correctly.
        """
        if low is None or high is None:
            return None
        return (low, high) if self.exact_ends else published((low, high), decimals=self.decimals)

    def interval_of_difference(self, low: float | None, high: float | None) -> Interval | None:
        """Return the ends of a confidence interval for the difference between two scores, rounded for the viewer.

        If the phase rounds scores and the interval includes 0, it is extended to at least one unit of the last digit on
        both sides of 0. Otherwise, an end at 0 would reveal whether a difference that the rounding hides is positive,
        even if only one image has changed.
        """
        found = self.interval(low, high)
        if found is None or self.decimals is None or found[0] > 0 or found[1] < 0:
            return found
        unit = 10.0**-self.decimals
        return min(found[0], -unit), max(found[1], unit)


def note_revealed(phase: Phase, *, now: datetime) -> None:
    """Record the first time at which participants could read the private scores.

    The phase cannot be reopened after that.
    """
    if phase.revealed_at is None:
        Phase.objects.filter(pk=phase.pk, revealed_at=None).update(revealed_at=now)
        phase.revealed_at = now


def score_access(phase: Phase, *, viewer: Any, now: datetime, is_organizer: bool | None = None) -> ScoreAccess:
    """Return the access that a viewer has to the scores of a phase.

    Organizers see all splits. Others see only the public split until the private scores are shown. Until then, the
    split `all` is hidden too, because the scores on all and on public images together would reveal the private score.
    Callers that know whether the viewer is an organizer can pass `is_organizer` to save a query.
    """
    if phase.challenge.is_organized_by(viewer) if is_organizer is None else is_organizer:
        return ScoreAccess(frozenset(SPLITS), None, True, exact_ends=True)
    splits = frozenset({"public"})
    if phase.shows_private(now):
        splits = frozenset(SPLITS)
        note_revealed(phase, now=now)
    return ScoreAccess(splits, phase.feedback_decimals, phase.feedback_classes, phase.has_ladder(now))


def load_scores(submissions: Sequence[Submission], *, with_notices: bool = False) -> None:
    """Load the evaluations and scores of submissions, using two queries in total.

    Reports are not loaded, because they are large; see `reports.stored_report`. If `with_notices` is true, the
    attribute `notices` of each evaluation is set to the notices in its report, or to None.
    """
    keys = [one.pk for one in submissions]
    evaluations = evaluations_of(submissions=keys, with_notices=with_notices) if keys else []
    with_published = [*evaluations, *(one.published for one in evaluations if one.published)]
    scores = scores_of(evaluations=[one.pk for one in with_published])
    set_related(with_published, "scores", scores, by="evaluation")
    set_related(submissions, "evaluations", evaluations, by="submission")


@compiled_query
def evaluations_of(*, submissions: list[UUID], with_notices: bool) -> QuerySet[Evaluation]:
    found = Evaluation.objects.filter(submission__in=submissions)
    if with_notices:
        found = found.annotate(notices=F("report__notices"))
    return found.select_related("published").defer("report", "published__report")


@compiled_query
def scores_of(*, evaluations: list[int]) -> QuerySet[Score]:
    return Score.objects.filter(evaluation__in=evaluations)


def current_evaluation(submission: Submission) -> Evaluation | None:
    """Return the submission's evaluation with the phase's current signature, or else its newest evaluation.

    The signature identifies the ground truth, the parameters and the evaluator version that produce a score.
    """
    evaluations = list(submission.evaluations.all())
    current = [one for one in evaluations if one.signature == submission.phase.signature]
    return max(current or evaluations, key=lambda one: (one.created_at, one.pk), default=None)


def shown_evaluation(submission: Submission, access: ScoreAccess) -> Evaluation | None:
    """Return the evaluation whose scores are shown for a submission.

    Under ladder feedback, the team's best scores are shown for a submission that does not clearly beat them, so the
    evaluation may belong to another submission of the team. Return None until it has been decided which scores to show.
    """
    evaluation = current_evaluation(submission)
    return evaluation.published if evaluation and access.ladder else evaluation


def visible_scores(submission: Submission, access: ScoreAccess) -> list[Score]:
    """Return the scores to show for a submission, on the splits that the viewer may see."""
    evaluation = shown_evaluation(submission, access)
    scores = [] if evaluation is None else [one for one in evaluation.scores.all() if one.split in access.splits]
    return sorted(scores, key=lambda one: (SPLITS.index(one.split), one.pk))


def scores_in(submission: Submission, access: ScoreAccess) -> dict[str, dict[str, float | None]]:
    """Return the scores of a submission that the viewer may see, keyed by split and metric, headline metric first."""
    shown: dict[str, dict[str, float | None]] = {}
    for score in visible_scores(submission, access):
        shown.setdefault(score.split, {})[score.metric] = access.number(score.value)
    return shown


def intervals_in(submission: Submission, access: ScoreAccess) -> dict[str, dict[str, Interval]]:
    """Return the confidence intervals of a submission that the viewer may see, keyed by split and metric."""
    shown: dict[str, dict[str, Interval]] = {}
    for score in visible_scores(submission, access):
        ends = access.interval(score.low, score.high)
        if ends is not None:
            shown.setdefault(score.split, {})[score.metric] = ends
    return shown
