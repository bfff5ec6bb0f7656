"""Computes a leaderboard from database rows by comparing all pairs of entries, without using the service's code."""

import csv
import io
from dataclasses import dataclass
from typing import Any

from tests.flows.running import Running

ENTRIES = """
SELECT s.id, t.name, t.is_baseline, s.final, s.received_at, w.value, p.value
FROM submissions_submission s
JOIN challenges_team t ON t.id = s.team_id
JOIN submissions_evaluation e ON e.submission_id = s.id
JOIN submissions_score w ON w.evaluation_id = e.id AND w.split = ? AND w.metric = 'mAP'
LEFT JOIN submissions_score p ON p.evaluation_id = e.id AND p.split = 'public' AND p.metric = 'mAP'
WHERE s.status = 'scored' AND w.value IS NOT NULL
"""


@dataclass(frozen=True)
class Entry:
    """A scored submission.

    `score` is its score on the images that the leaderboard uses, and `public` is its score on public images.
    """

    id: str
    team: str
    baseline: bool
    final: bool
    at: str
    score: float
    public: float | None

    def beats(self, other: "Entry") -> bool:
        """Return whether this entry ranks higher than the other one: by score, then time, then team name and id."""
        if self.score != other.score:
            return self.score > other.score
        return (self.at, self.team, self.id) < (other.at, other.team, other.id)

    def is_chosen_before(self, other: "Entry") -> bool:
        """Return whether this entry is preferred to the other one when a team has selected no final submissions."""
        if self.public != other.public:
            return other.public is None or (self.public is not None and self.public > other.public)
        return (self.at, self.id) < (other.at, other.id)


@dataclass(frozen=True)
class Line:
    rank: int | None
    team: str
    score: float
    entries: int
    submission_at: str


def counts(entry: Entry, own: list[Entry], *, finals: int) -> bool:
    """Return whether an entry counts after the end of the phase.

    Baselines always count. Of a team's final submissions or, if it has selected none, of all its entries, the best
    `finals` count, compared by their public scores.
    """
    if entry.baseline:
        return True
    chosen = [one for one in own if one.final] or own
    return entry in chosen and sum(one.is_chosen_before(entry) for one in chosen if one is not entry) < finals


def board_by_hand(service: Running, *, split: str, finals: int) -> list[Line]:
    entries = [Entry(*row) for row in service.rows(ENTRIES, split)]
    own = {team: [one for one in entries if one.team == team] for team in {one.team for one in entries}}
    counting = [one for one in entries if split == "public" or counts(one, own[one.team], finals=finals)]
    best = [one for one in counting if not any(other.team == one.team and other.beats(one) for other in counting)]
    lines: dict[int, Line] = {}
    for one in best:
        place = sum(other.beats(one) for other in best)
        better = sum(other.score > one.score for other in best if not other.baseline)
        rank = None if one.baseline else better + 1
        lines[place] = Line(rank, one.team, one.score, len(own[one.team]), one.at)
    return [lines[place] for place in sorted(lines)]


def served_board(service: Running, *, split: str) -> list[Line]:
    """Return the leaderboard, with exact scores, from the service's public CSV file."""
    path = f"/api/v1/challenges/flows/phases/main/leaderboard?format=csv&split={split}"
    status, text = service.ask("GET", path)
    assert status == 200, text
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(text)))
    return [
        Line(
            int(row["rank"]) if row["rank"] else None,
            row["team"],
            float(row["score"]),
            int(row["entries"]),
            row["submitted_at"].replace("T", " ").removesuffix("Z"),
        )
        for row in rows
    ]
