"""Everything that was scored on one split of a phase, read in two queries, before anyone is ranked."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from server.challenges.models import Phase
from server.leaderboards import ranking
from server.leaderboards.ranking import Candidate
from server.submissions.models import Score, Status

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
    "evaluation__published_id",
)


@dataclass(frozen=True)
class Field:
    """What was scored on one split; the rest follows from it. With a `ladder`, what it does not show stands nowhere."""

    split: str
    finals: int
    scored: list[Candidate]
    ladder: bool

    @cached_property
    def candidates(self) -> list[Candidate]:
        return [one for one in self.scored if one.published or not self.ladder]

    @cached_property
    def counting(self) -> list[Candidate]:
        """All of them on the public board; when the phase is over, each team's finals."""
        if self.split == "public":
            return self.candidates
        return ranking.finalists(self.candidates, finals=self.finals)

    @cached_property
    def standings(self) -> list[tuple[int | None, Candidate]]:
        return ranking.ranked(ranking.best_of_each_team(self.counting))

    @cached_property
    def entries(self) -> Counter[int]:
        """Scored submissions of each team, whether they count or not."""
        return Counter(one.team_id for one in self.scored)


def read_field(
    phase: Phase, *, split: str, at: datetime | None = None, signature: str | None = None, ladder: bool = False
) -> Field:
    """Read the headline of everything scored in the phase's current way, or in that of a `signature`.

    An undefined score takes no place.
    """
    kind = phase.signature if signature is None else signature
    headlines = _headlines(phase, split=split, signature=kind).filter(value__isnull=False)
    if at is not None:
        headlines = headlines.filter(evaluation__submission__received_at__lte=at)
    public: dict[int, float | None] = {}
    if split != "public":
        public = dict(_headlines(phase, split="public", signature=kind).values_list("evaluation_id", "value"))
    scored = [_candidate(*row, public=public) for row in headlines.values_list(*COLUMNS)]
    return Field(split, phase.finals, scored, ladder)


def _headlines(phase: Phase, *, split: str, signature: str) -> QuerySet[Score]:
    """Headline scores of finished submissions of one signature, which names the truth, too.

    Which truth is active is not asked: a board whose phase was read before it changed is the old one, whole.
    """
    return Score.objects.filter(
        split=split,
        metric=phase.declared_track.headline,
        evaluation__signature=signature,
        evaluation__submission__phase=phase,
        evaluation__submission__status=Status.SCORED,
    )


def _candidate(*columns: Any, public: dict[int, float | None]) -> Candidate:
    submission_id, team_id, team, score, submitted_at, baseline, final, evaluation_id, low, high, published = columns
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
        published=published == evaluation_id,
    )
