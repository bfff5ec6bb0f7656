"""What a person may read of a scored submission: which splits, how many digits, and whether class by class."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Prefetch, QuerySet

from evaluator.digits import Interval, published
from server.challenges.models import Phase
from server.submissions.models import Evaluation, Score, Submission

SPLITS = ("public", "private", "all")


@dataclass(frozen=True, slots=True)
class Sight:
    """One person's view of one phase at one instant.

    `decimals` is None where numbers are shown as they are. With a `ladder`, a file is shown with the scores of the
    evaluation that its own names as published. `exact_ends`: whether intervals are shown with the ends that are stored.
    """

    splits: frozenset[str]
    decimals: int | None
    classes: bool
    ladder: bool = False
    exact_ends: bool = False

    def rounded(self, value: float) -> float:
        """Return the value as this person sees it; a board is ordered before this, never after."""
        return value if self.decimals is None else round(value, self.decimals)

    def number(self, value: float | None) -> float | None:
        return None if value is None else self.rounded(value)

    def interval(self, low: float | None, high: float | None) -> Interval | None:
        """Return the ends as this person sees them: every interval that leaves the server goes through here.

        Exact ends would tell which images a file is right on, to whoever can guess the draws.
        """
        if low is None or high is None:
            return None
        return (low, high) if self.exact_ends else published((low, high), decimals=self.decimals)


def note_revealed(phase: Phase, *, now: datetime) -> None:
    """Keep when somebody could first read the private scores: the phase cannot be reopened after that."""
    if phase.revealed_at is None:
        Phase.objects.filter(pk=phase.pk, revealed_at=None).update(revealed_at=now)
        phase.revealed_at = now


def sight(phase: Phase, *, viewer: Any, now: datetime) -> Sight:
    """Organizers see everything. Others see the public split, and the rest when the phase is over.

    `all` stays hidden as long as `private`: with the public score it would give the private one away.
    """
    if phase.challenge.is_organized_by(viewer):
        return Sight(frozenset(SPLITS), None, True, exact_ends=True)
    splits = frozenset({"public"})
    if phase.has_closed(now):
        splits = frozenset(SPLITS)
        note_revealed(phase, now=now)
    return Sight(splits, phase.feedback_decimals, phase.feedback_classes, phase.has_ladder(now))


def with_scores(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Load what this module reads in a constant number of queries; reports are large and stay behind."""
    evaluations = Evaluation.objects.select_related("published").defer("report", "published__report")
    evaluations = evaluations.prefetch_related("scores", "published__scores")
    return submissions.select_related("phase__challenge", "team").prefetch_related(Prefetch("evaluations", evaluations))


def current_evaluation(submission: Submission) -> Evaluation | None:
    """The one of the phase's signature, which names the truth, too; where there is none, the newest."""
    evaluations = sorted(submission.evaluations.all(), key=lambda one: (one.created_at, one.pk))
    signature = submission.phase.signature
    current = [one for one in evaluations if one.signature == signature]
    return next(reversed(current or evaluations), None)


def shown_evaluation(submission: Submission, sight: Sight) -> Evaluation | None:
    """The one whose scores are shown: another file's, or none yet, where the ladder says so."""
    evaluation = current_evaluation(submission)
    return evaluation.published if evaluation and sight.ladder else evaluation


def seen_scores(submission: Submission, sight: Sight) -> list[Score]:
    """Scores on the splits that may be seen."""
    evaluation = shown_evaluation(submission, sight)
    scores = [] if evaluation is None else [one for one in evaluation.scores.all() if one.split in sight.splits]
    return sorted(scores, key=lambda one: (SPLITS.index(one.split), one.pk))


def scores_in(submission: Submission, sight: Sight) -> dict[str, dict[str, float | None]]:
    """Values by split and metric, headline first, as `sight` allows."""
    shown: dict[str, dict[str, float | None]] = {}
    for score in seen_scores(submission, sight):
        shown.setdefault(score.split, {})[score.metric] = sight.number(score.value)
    return shown


def intervals_in(submission: Submission, sight: Sight) -> dict[str, dict[str, Interval]]:
    """Intervals by split and metric, where there are any, as `sight` allows."""
    shown: dict[str, dict[str, Interval]] = {}
    for score in seen_scores(submission, sight):
        ends = sight.interval(score.low, score.high)
        if ends is not None:
            shown.setdefault(score.split, {})[score.metric] = ends
    return shown
