"""The Ladder (Blum and Hardt, 2015): whose public scores a team is shown for a file, decided with its replicates.

Its own only where they beat the team's best by more than so many paired standard errors of the difference as the phase
says; otherwise the best's again. So what cannot be told from chance tells nothing. Decided once and in the order in
which replicates come.
"""

from collections.abc import Sequence
from math import isnan
from operator import sub
from statistics import stdev

from django.db.models import F, QuerySet

from server.submissions.models import Evaluation, Replicates, Score


def publish(evaluation: Evaluation) -> None:
    """Decide for a new evaluation, whatever the policy of its phase is now. The caller holds the team's row."""
    if evaluation.published_id is not None:
        return
    best = best_of_team(evaluation)
    evaluation.published = evaluation if best is None or is_shown(evaluation, best) else best.evaluation
    evaluation.save(update_fields=["published"])


def best_of_team(evaluation: Evaluation) -> Score | None:
    """Return the best public headline that the team was shown so far, of the same signature."""
    submission = evaluation.submission
    shown = headlines().filter(
        evaluation__signature=evaluation.signature,
        evaluation__submission__phase=submission.phase_id,
        evaluation__submission__team=submission.team_id,
        evaluation__published=F("evaluation"),
        metric=submission.phase.declared_track.headline,
    )
    return shown.order_by("-value", "evaluation").first()


def headlines() -> QuerySet[Score]:
    return Score.objects.filter(split="public", value__isnull=False).select_related("evaluation")


def is_shown(evaluation: Evaluation, best: Score) -> bool:
    """Baselines have nobody who probes; an undefined score tells nothing."""
    own = headlines().filter(evaluation=evaluation, metric=best.metric).first()
    if own is None or own.value is None or best.value is None or evaluation.submission.team.is_baseline:
        return True
    margin = evaluation.submission.phase.ladder_standard_errors
    return beats(own.value, best.value, vector_of(evaluation), vector_of(best.evaluation), standard_errors=margin)


def vector_of(evaluation: Evaluation) -> Sequence[float]:
    kept = Replicates.objects.filter(evaluation=evaluation, split="public").first()
    return kept.vector if kept else ()


def beats(
    score: float,
    best: float,
    replicates: Sequence[float],
    of_best: Sequence[float],
    *,
    standard_errors: float = 1.0,
) -> bool:
    """Tell whether `score` beats `best` by more than so many standard errors, which paired replicates give.

    Replicates of other draws are no pairs; then this is the larger, unpaired error. Without any it is False.

    >>> replicates, of_best = [0.5, 0.52, 0.54], [0.49, 0.5, 0.51]
    >>> [beats(score, 0.5, replicates, of_best, standard_errors=2) for score in (0.515, 0.525)]
    [False, True]
    """
    differences = [one for one in map(sub, replicates, of_best) if not isnan(one)]
    return len(differences) > 1 and score - best > standard_errors * stdev(differences)
