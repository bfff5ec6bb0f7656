"""Compares the headline score of a submission with the score of the team's best other submission."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from server.compiled_queries import compiled_query
from server.pages.submission.comparison import Difference, Side, Verdict, difference_of
from server.pages.submission.results import Result
from server.submissions.feedback import ScoreAccess, current_evaluation
from server.submissions.models import Score, Submission

# `Other` describes a submission by its headline score, the id of its evaluation, its own id, and its file name.
Other = tuple[float, int, UUID, str]


@dataclass(frozen=True, slots=True)
class Improvement:
    """The difference between a submission and the team's best other submission, and the URL of their comparison."""

    difference: Difference
    file_name: str
    compare_url: str

    @property
    def could_be_luck(self) -> bool:
        """Whether the 95% interval of the difference includes 0, so that the difference could be due to chance."""
        return self.difference.verdict == Verdict.TIED


def improvement_of(submission: Submission, result: Result, access: ScoreAccess) -> Improvement | None:
    """Compare a submission with the team's best other submission.

    Return None if there is no other submission, or if the phase uses ladder feedback. If a new submission is not
    clearly better, ladder feedback shows the score of an earlier submission instead. A comparison would then be
    meaningless or reveal the hidden score.
    """
    evaluation, best = current_evaluation(submission), None if access.ladder else best_other(submission, result)
    if evaluation is None or best is None or result.headline.value is None:
        return None
    value, other_evaluation, other, file_name = best
    track, split = submission.phase.declared_track, result.headline_split
    sides = (
        Side(access.number(value), None, other_evaluation),
        Side(result.headline.value, None, evaluation.pk),
    )
    pair = urlencode({"phase": submission.phase.slug, "a": str(other), "b": str(submission.pk)})
    address = f"{reverse('compare', args=[submission.phase.challenge.slug])}?{pair}"
    return Improvement(difference_of(*sides, split, track, access), file_name, address)


def best_other(submission: Submission, result: Result) -> Other | None:
    """Return the team's best other submission by headline score.

    Only scores with the same evaluation signature are considered, because other scores are not comparable.
    """
    found = best_others(
        submission=submission.pk,
        team=submission.team_id,
        phase=submission.phase_id,
        signature=result.signature,
        split=result.headline_split,
        metric=result.metric.name,
    )
    return next(iter(found), None)


@compiled_query
def best_others(
    *, submission: UUID, team: int, phase: int, signature: str, split: str, metric: str
) -> QuerySet[Score, Other]:
    others = Score.objects.filter(
        evaluation__submission__team=team,
        evaluation__submission__phase=phase,
        evaluation__signature=signature,
        split=split,
        metric=metric,
        value__isnull=False,
    ).exclude(evaluation__submission=submission)
    # Adding 0.0 prevents the database from using an index on the score to sort. With this index, the database would
    # read the scores of all teams.
    best_first = others.order_by((F("value") + 0.0).desc(), "evaluation__submission__received_at")
    columns = ("value", "evaluation_id", "evaluation__submission_id", "evaluation__submission__file_name")
    return best_first.values_list(*columns)[:1]
