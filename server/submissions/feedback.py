"""Decides which scores a person may see: on which splits, with how many digits, and whether with results per class."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Prefetch, QuerySet

from evaluator.digits import Interval, published
from server.challenges.models import Phase
from server.submissions.models import Evaluation, Score, Submission

SPLITS = ("public", "private", "all")


@dataclass(frozen=True, slots=True)
class ScoreAccess:
    """The scores of a phase that one person may see at one time.

    `decimals` is None if numbers are not rounded. With `ladder`, a submission shows the public scores of the evaluation
    that the ladder published for it. If `exact_ends` is true, the ends of intervals are not rounded.
    """

    splits: frozenset[str]
    decimals: int | None
    classes: bool
    ladder: bool = False
    exact_ends: bool = False

    def rounded(self, value: float) -> float:
        """Return the value as this person sees it. Leaderboards are ordered by exact values, before rounding."""
        return value if self.decimals is None else round(value, self.decimals)

    def number(self, value: float | None) -> float | None:
        return None if value is None else self.rounded(value)

    def interval(self, low: float | None, high: float | None) -> Interval | None:
        """Return the ends of an interval as this person sees them. This method rounds every interval that is shown.

        Anyone who can guess the bootstrap draws could find out from exact ends for which images a file is correct.
        """
        if low is None or high is None:
            return None
        return (low, high) if self.exact_ends else published((low, high), decimals=self.decimals)


def note_revealed(phase: Phase, *, now: datetime) -> None:
    """Record when participants could first read the private scores. The phase cannot be reopened after that."""
    if phase.revealed_at is None:
        Phase.objects.filter(pk=phase.pk, revealed_at=None).update(revealed_at=now)
        phase.revealed_at = now


def score_access(phase: Phase, *, viewer: Any, now: datetime, is_organizer: bool | None = None) -> ScoreAccess:
    """Return the access of a viewer. Organizers see all splits; others see only the public one until the phase is over.

    The split `all` stays hidden as long as `private`, because together with the public score it would reveal the
    private one. `is_organizer` saves a query where that is known.
    """
    if phase.challenge.is_organized_by(viewer) if is_organizer is None else is_organizer:
        return ScoreAccess(frozenset(SPLITS), None, True, exact_ends=True)
    splits = frozenset({"public"})
    if phase.has_closed(now):
        splits = frozenset(SPLITS)
        note_revealed(phase, now=now)
    return ScoreAccess(splits, phase.feedback_decimals, phase.feedback_classes, phase.has_ladder(now))


def with_scores(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Prefetch the related rows that this module reads. Reports are not loaded, because they are large."""
    evaluations = Evaluation.objects.select_related("published").defer("report", "published__report")
    evaluations = evaluations.prefetch_related("scores", "published__scores")
    return submissions.select_related("phase__challenge", "team").prefetch_related(Prefetch("evaluations", evaluations))


def current_evaluation(submission: Submission) -> Evaluation | None:
    """Return the evaluation with the phase's signature; without one, the newest evaluation."""
    evaluations = sorted(submission.evaluations.all(), key=lambda one: (one.created_at, one.pk))
    signature = submission.phase.signature
    current = [one for one in evaluations if one.signature == signature]
    return next(reversed(current or evaluations), None)


def shown_evaluation(submission: Submission, access: ScoreAccess) -> Evaluation | None:
    """Return the evaluation whose scores are shown for a submission.

    Under ladder feedback this is the evaluation that the ladder published, which may belong to another submission of
    the team; None until the ladder has decided.
    """
    evaluation = current_evaluation(submission)
    return evaluation.published if evaluation and access.ladder else evaluation


def visible_scores(submission: Submission, access: ScoreAccess) -> list[Score]:
    """Return the scores to show, on the splits that this person may see."""
    evaluation = shown_evaluation(submission, access)
    scores = [] if evaluation is None else [one for one in evaluation.scores.all() if one.split in access.splits]
    return sorted(scores, key=lambda one: (SPLITS.index(one.split), one.pk))


def scores_in(submission: Submission, access: ScoreAccess) -> dict[str, dict[str, float | None]]:
    """Return visible values by split and metric, the headline metric first."""
    shown: dict[str, dict[str, float | None]] = {}
    for score in visible_scores(submission, access):
        shown.setdefault(score.split, {})[score.metric] = access.number(score.value)
    return shown


def intervals_in(submission: Submission, access: ScoreAccess) -> dict[str, dict[str, Interval]]:
    """Return the visible intervals by split and metric."""
    shown: dict[str, dict[str, Interval]] = {}
    for score in visible_scores(submission, access):
        ends = access.interval(score.low, score.high)
        if ends is not None:
            shown.setdefault(score.split, {})[score.metric] = ends
    return shown
