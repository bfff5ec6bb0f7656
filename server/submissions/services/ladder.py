"""The Ladder (Blum and Hardt, 2015) decides which public scores a team sees for a file.

A team sees the file's own scores only if they exceed the team's best scores by more than a given number of standard
errors of the paired difference. Each phase sets this number. Otherwise the team sees its best scores again, so that
differences that may be due to chance reveal nothing. The decision is made once for each evaluation, in the order in
which workers record the bootstrap replicates from which standard errors are computed. It is made again only if
organizers hide the submission whose scores are shown instead.
"""

from collections.abc import Sequence
from math import isnan
from operator import sub
from statistics import stdev
from typing import Any

from django.db.models import QuerySet

from evaluator.digits import ROUNDING
from server.compiled_queries import compiled_query
from server.sql import update
from server.submissions.models import Evaluation, Replicates, Score, ScoreQuerySet, Submission


def publish(evaluation: Evaluation) -> None:
    """Decide which scores ladder feedback shows for a new evaluation. The caller must hold the lock on the team's row.

    The decision is also made if the phase does not use ladder feedback, so that organizers can turn it on later.
    """
    if evaluation.published_id is not None:
        return
    best = best_of_team(evaluation)
    evaluation.published = evaluation if best is None or is_published(evaluation, best) else best.evaluation
    update(Evaluation, [evaluation.pk], published=evaluation.published_id)


def decide_again(hidden: Submission) -> None:
    """Decide again about the evaluations that show the scores of a submission, because organizers have hidden it.

    Otherwise, a team whose best submission is hidden would have no score on the leaderboard. The caller must hold the
    lock on the team's row, and must have stored that the submission is hidden.
    """
    showing = Evaluation.objects.filter(published__submission=hidden).exclude(submission=hidden)
    for evaluation in showing.select_related("submission__phase", "submission__team").order_by("pk"):
        evaluation.published = None
        publish(evaluation)


def best_of_team(evaluation: Evaluation) -> Score | None:
    """Return the team's best public headline score that has been shown and can be compared with this evaluation.

    Hidden submissions do not count.
    """
    submission = evaluation.submission
    found = best_visible(
        signature=evaluation.signature,
        phase=submission.phase_id,
        team=submission.team_id,
        metric=submission.phase.declared_track.headline,
        ladders=[submission.phase_id],
    )
    return found[0] if found else None


@compiled_query
def best_visible(*, signature: str, phase: int, team: int, metric: str, ladders: list[int]) -> QuerySet[Any, Score]:
    seen = headlines().filter(
        evaluation__signature=signature,
        evaluation__submission__phase=phase,
        evaluation__submission__team=team,
        evaluation__submission__hidden_at=None,
        metric=metric,
    )
    return seen.visible(ladders=ladders).order_by("-value", "evaluation")[:1]


def headlines() -> ScoreQuerySet:
    found = Score.objects.filter(split="public", value__isnull=False)
    return found.select_related("evaluation").defer("evaluation__report")


def is_published(evaluation: Evaluation, best: Score) -> bool:
    """Return whether a team sees the scores of an evaluation, given the team's best score so far.

    In general, the headline score must exceed the best score by more than a number of standard errors that the phase
    sets. The scores of baselines are always shown, because nobody uses them to learn about the ground truth. Undefined
    scores are always shown, because they reveal nothing.
    """
    own = next(iter(headline_of(evaluation=evaluation.pk, metric=best.metric)), None)
    if own is None or own.value is None or best.value is None or evaluation.submission.team.is_baseline:
        return True
    margin = evaluation.submission.phase.ladder_standard_errors
    return beats(
        own.value, best.value, replicates_of(evaluation), replicates_of(best.evaluation), standard_errors=margin
    )


def replicates_of(evaluation: Evaluation) -> Sequence[float]:
    kept = public_replicates(evaluation=evaluation.pk)
    return kept[0].vector if kept else ()


@compiled_query
def headline_of(*, evaluation: int, metric: str) -> QuerySet[Any, Score]:
    return headlines().filter(evaluation=evaluation, metric=metric).order_by()


@compiled_query
def public_replicates(*, evaluation: int) -> QuerySet[Any, Replicates]:
    return Replicates.objects.filter(evaluation=evaluation, split="public").order_by()


def beats(
    score: float,
    best: float,
    replicates: Sequence[float],
    of_best: Sequence[float],
    *,
    standard_errors: float = 1.0,
) -> bool:
    """Return whether `score` exceeds `best` by more than `standard_errors` standard errors of the paired difference.

    If the two lists of replicates come from different bootstrap draws, they are not paired, and the larger unpaired
    error is used. Without replicates, the result is False. It is also False if rounding explains the difference.

    >>> replicates, of_best = [0.5, 0.52, 0.54], [0.49, 0.5, 0.51]
    >>> [beats(score, 0.5, replicates, of_best, standard_errors=2) for score in (0.515, 0.525)]
    [False, True]
    """
    differences = [one for one in map(sub, replicates, of_best) if not isnan(one)]
    return len(differences) > 1 and score - best > max(standard_errors * stdev(differences), ROUNDING)
