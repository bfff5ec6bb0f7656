"""Reads everything that was scored on one split of a phase in two queries, before teams are ranked."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from server.challenges.models import Phase
from server.leaderboards import ranking
from server.leaderboards.ranking import Candidate
from server.submissions.models import Score, ScoreQuerySet, Status

COLUMNS = (
    "evaluation__submission_id",
    "evaluation__submission__team_id",
    "evaluation__submission__team__name",
    "value",
    "evaluation__submission__received_at",
    "evaluation__submission__team__is_baseline",
    "evaluation__submission__final",
    "evaluation_id",
    "low",
    "high",
    "visible",
)


@dataclass(frozen=True)
class ScoredEntries:
    """All scored submissions on one split. Under ladder feedback, hidden scores are counted and not ranked."""

    split: str
    finals: int
    scored: list[Candidate]

    @cached_property
    def candidates(self) -> list[Candidate]:
        """Scored submissions whose own score is visible."""
        return [one for one in self.scored if one.visible]

    @cached_property
    def counting(self) -> list[Candidate]:
        """The candidates that count: all of them on the public split, each team's final submissions on the others."""
        if self.split == "public":
            return self.candidates
        return ranking.finalists(self.candidates, finals=self.finals)

    @cached_property
    def standings(self) -> list[tuple[int | None, Candidate]]:
        return ranking.ranked(ranking.best_of_each_team(self.counting))

    @cached_property
    def entries(self) -> Counter[int]:
        """Number of scored submissions of each team, whether they count or not."""
        return Counter(one.team_id for one in self.scored)


def read_entries(
    phase: Phase, *, split: str, at: datetime | None = None, signature: str | None = None, ladder: bool = False
) -> ScoredEntries:
    """Read the defined headline scores of a signature, by default the phase's current one.

    `at` leaves out submissions that were received later. With `ladder`, unpublished scores are hidden.
    """
    kind = phase.signature if signature is None else signature
    scores = _headlines(phase, split=split, signature=kind).filter(value__isnull=False)
    if at is not None:
        scores = scores.filter(evaluation__submission__received_at__lte=at)
    public: dict[int, float | None] = {}
    if split != "public":
        public = dict(_headlines(phase, split="public", signature=kind).values_list("evaluation_id", "value"))
    rows = scores.with_visible(ladders=[phase] if ladder else []).values_list(*COLUMNS)
    return ScoredEntries(split, phase.finals, [_candidate(*row, public=public) for row in rows])


def _headlines(phase: Phase, *, split: str, signature: str) -> ScoreQuerySet:
    """Return the headline scores of one signature, which contains the truth.

    This does not look at which truth is active. So a leaderboard whose phase was read before a rescoring was applied
    shows the old scores only.
    """
    return Score.objects.filter(
        split=split,
        metric=phase.declared_track.headline,
        evaluation__signature=signature,
        evaluation__submission__phase=phase,
        evaluation__submission__status=Status.SCORED,
    )


def _candidate(*columns: Any, public: dict[int, float | None]) -> Candidate:
    submission_id, team_id, team, score, submitted_at, baseline, final, evaluation_id, low, high, visible = columns
    return Candidate(
        submission_id=submission_id,
        team_id=team_id,
        team=team,
        score=score,
        submitted_at=submitted_at,
        baseline=baseline,
        final=final,
        public_score=public.get(evaluation_id),
        evaluation_id=evaluation_id,
        low=low,
        high=high,
        visible=visible,
    )
