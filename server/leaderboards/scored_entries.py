"""Reads the scores of teams in a phase, as input for the rules in `ranking`."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from server.challenges.models import Phase
from server.leaderboards import ranking
from server.leaderboards.models import Board
from server.leaderboards.ranking import Candidate
from server.sql import select
from server.submissions.models import Status

SPLITS = {  # the split (part of a phase's images) whose scores each kind of leaderboard shows
    Board.Kind.PUBLIC: "public",
    Board.Kind.PUBLISHED: "public",
    Board.Kind.PRIVATE: "private",
    Board.Kind.ALL: "all",
}
# Times and ids are read as strings, which sort in the same order. Few of them are needed, and parsing all of them would
# take longer than reading everything else. The rows are not sorted here, because only equal scores are compared by
# time. `finals` is the number of final submissions per team with which the phase's current entries were computed; see
# `services.terms.apply_finals`.
SCORES = """
    SELECT score.split, team.id, score.value, evaluation.published_id, evaluation.id, team.is_baseline,
        submission.final, score.low, score.high, CAST(submission.received_at AS text), CAST(submission.id AS text),
        (SELECT finals FROM leaderboards_boardterms WHERE phase_id = %s ORDER BY since DESC, id DESC LIMIT 1)
    FROM challenges_team team
    JOIN submissions_submission submission ON submission.team_id = team.id
    JOIN submissions_evaluation evaluation ON evaluation.submission_id = submission.id
    JOIN submissions_score score ON score.evaluation_id = evaluation.id
    WHERE submission.phase_id = %s AND submission.status = %s AND evaluation.signature = %s AND score.metric = %s
        AND score.value IS NOT NULL AND submission.hidden_at IS NULL AND team.disqualified_at IS NULL
        AND team.id IN ({})
"""


@dataclass(frozen=True)
class TeamScores:
    """The scores of a team's submissions in the headline metric, on the split that one kind of leaderboard shows.

    Submissions whose score is undefined are left out.
    """

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
    """Return the scores of teams, keyed by kind of leaderboard and team.

    Disqualified teams, hidden submissions and teams without scores on the split are left out. The result contains the
    number of final submissions per team, which decides which scores count. This number is read from the database,
    because `phase` may contain an outdated one.
    """
    words = (phase.pk, phase.pk, Status.SCORED, signature, phase.declared_track.headline)
    rows = select(SCORES, words, teams)
    public = {evaluation: value for split, _, value, _, evaluation, *_ in rows if split == "public"}
    found: dict[tuple[str, int], list[Candidate]] = {}
    for split, team, value, published, evaluation, baseline, final, low, high, at, submission, _ in rows:
        visible = published == evaluation  # `visible` can be false only under ladder feedback; see `is_visible`.
        received, public_score = (at, submission), public.get(evaluation)
        candidate = Candidate(evaluation, value, received, public_score, baseline, visible, final, low, high, at)
        found.setdefault((split, team), []).append(candidate)
    finals = rows[0][-1] if rows else 0
    return {
        (kind.value, team): TeamScores(kind, finals, candidates)
        for kind, of_kind in SPLITS.items()
        for (split, team), candidates in found.items()
        if split == of_kind
    }
