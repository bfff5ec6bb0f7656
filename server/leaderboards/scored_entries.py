"""Reads what teams were scored on a phase, in one query, before the rules of `ranking` are applied."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from server.challenges.models import Phase
from server.leaderboards import ranking
from server.leaderboards.models import Board
from server.leaderboards.ranking import Candidate
from server.submissions.models import Score, Status

SPLITS = {  # the split whose scores each kind of leaderboard shows
    Board.Kind.PUBLIC: "public",
    Board.Kind.PUBLISHED: "public",
    Board.Kind.PRIVATE: "private",
    Board.Kind.ALL: "all",
}
COLUMNS = (
    "split",
    "evaluation__submission_id",
    "evaluation__submission__team_id",
    "value",
    "evaluation__submission__received_at",
    "evaluation__submission__team__is_baseline",
    "evaluation__submission__final",
    "evaluation_id",
    "evaluation__published_id",
    "low",
    "high",
    "evaluation__submission__phase__finals",
)


@dataclass(frozen=True)
class TeamScores:
    """The defined headline scores of a team, of one signature, on the split of one kind of leaderboard."""

    kind: str
    finals: int
    scored: list[Candidate]

    @cached_property
    def counting(self) -> list[Candidate]:
        return ranking.counting(self.scored, kind=self.kind, finals=self.finals)

    @cached_property
    def entry(self) -> Candidate | None:
        return ranking.entry_of(self.scored, kind=self.kind, finals=self.finals)


def read_scores(phase: Phase, *, signature: str, teams: Collection[int]) -> dict[tuple[str, int], TeamScores]:
    """Return the scores of teams by kind of leaderboard and team.

    Teams without scores on a split are left out, and disqualified ones. What can change is read with the scores,
    because `phase` may have been read before.
    """
    scores = Score.objects.filter(
        metric=phase.declared_track.headline,
        value__isnull=False,
        evaluation__signature=signature,
        evaluation__submission__phase=phase,
        evaluation__submission__team__in=[*teams],
        evaluation__submission__team__disqualified_at=None,
        evaluation__submission__status=Status.SCORED,
    )
    rows = list(scores.values_list(*COLUMNS))
    public = {row[COLUMNS.index("evaluation_id")]: row[COLUMNS.index("value")] for row in rows if row[0] == "public"}
    found: dict[tuple[str, int], list[Candidate]] = {}
    for split, *columns, _ in rows:
        candidate = _candidate(*columns, public=public)
        found.setdefault((split, candidate.team_id), []).append(candidate)
    finals = rows[0][-1] if rows else 0
    return {
        (kind.value, team): TeamScores(kind, finals, candidates)
        for kind, of_kind in SPLITS.items()
        for (split, team), candidates in found.items()
        if split == of_kind
    }


def _candidate(*columns: Any, public: Mapping[int, float]) -> Candidate:
    submission, team, value, received_at, baseline, final, evaluation, published, low, high = columns
    return Candidate(
        submission_id=submission,
        team_id=team,
        score=value,
        submitted_at=received_at,
        baseline=baseline,
        final=final,
        public_score=public.get(evaluation),
        evaluation_id=evaluation,
        low=low,
        high=high,
        visible=published == evaluation,
    )
