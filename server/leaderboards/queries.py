"""Boards and places, as one person may see them, in a constant number of queries."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Max, Q

from evaluator.digits import Interval
from server.challenges.models import Phase
from server.challenges.revealed import ladder_margin
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.field import Field, read_field
from server.leaderboards.ranking import Candidate, competition_ranks
from server.submissions.feedback import Sight, current_evaluation, sight
from server.submissions.models import Score, Status, Submission

UNSCORED = {
    Status.QUEUED: "It is waiting to be scored.",
    Status.RUNNING: "It is being scored.",
    Status.REJECTED: "The file was rejected. Fix its defects and submit again.",
    Status.FAILED: "It could not be scored, through no fault of the file. Submit it again.",
    Status.CANCELLED: "It was cancelled. Submit the file again to have it scored.",
}
UNCLEAR = (
    "It does not beat your team's best by more than {margin} of the difference, so that one's score is shown in its "
    "place."
)
COMPARING = "It is being compared with your team's best. Its score is shown if it clearly beats that."
INCOMPARABLE = "It could not be compared with your team's best, so it shows no score. Write to the organizers."

NOTHING = Sight(frozenset(), None, False)


@dataclass(frozen=True, slots=True)
class Row:
    """A team's line, or a baseline's, which has no rank."""

    rank: int | None
    team: str
    team_id: int
    score: float
    interval: Interval | None
    scores: dict[str, float | None]
    entries: int
    submitted_at: datetime
    baseline: bool
    submission_id: UUID
    evaluation_id: int
    tied: bool | None = None  # with the next team above; None: not known, or `ties` was not asked
    joined: bool = False  # to the row above, by the bracket of a tie


@dataclass(frozen=True, slots=True)
class Board:
    """One split of a phase, of one signature, as of `at` (now, where nothing was asked for)."""

    split: str
    signature: str
    at: datetime
    rows: list[Row]
    seen: Sight = NOTHING

    def place_of(self, team_id: int | None) -> int | None:
        """Where a team's line is, from 0."""
        return next((place for place, row in enumerate(self.rows) if row.team_id == team_id), None)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one submission stands on the board of `split`; `why_not` is empty where it is on it."""

    split: str
    on_board: bool
    why_not: str
    rank: int | None


def board(phase: Phase, *, split: str, at: datetime | None = None, viewer: Any) -> Board:
    """The board of one split. `at` leaves out what was received later; what is not scored yet is never on it."""
    now = database_now()
    seen = sight(phase, viewer=viewer, now=now)
    if split not in seen.splits:
        raise Refused("forbidden", _closed_until(phase, split))
    field = read_field(phase, split=split, at=at, ladder=seen.ladder)
    metrics = _all_metrics([entry.evaluation_id for _, entry in field.standings], split)
    rows = [_row(rank, entry, field=field, metrics=metrics, seen=seen) for rank, entry in field.standings]
    return Board(split, phase.signature, at or now, rows, seen)


def standing(submission: Submission, *, now: datetime) -> Standing:
    """Where a submission stands: on the public board, or on the private one once the phase is over."""
    return standings(submission.phase, [submission], now=now)[submission.pk]


def standings(phase: Phase, submissions: Iterable[Submission], *, now: datetime) -> dict[UUID, Standing]:
    """Where several submissions of one phase stand, on the board that its teams see; it is read once."""
    field = read_field(phase, split="private") if phase.has_closed(now) else None
    if field is None or not field.candidates:  # nothing is private, so the public board decides
        field = read_field(phase, split="public", ladder=phase.has_ladder(now))
    ranks = {entry.submission_id: rank for rank, entry in field.standings}
    counting = {one.submission_id for one in field.counting}
    scored = {one.submission_id for one in field.candidates}
    unshown = {one.submission_id for one in field.scored} - scored

    def place(submission: Submission) -> Standing:
        if submission.pk in ranks:
            return Standing(field.split, True, "", ranks[submission.pk])
        if submission.pk in unshown:
            return Standing(field.split, False, _why_unshown(submission), None)
        why_not = _why_not(submission, scored=submission.pk in scored, counting=submission.pk in counting)
        return Standing(field.split, False, why_not, None)

    return {submission.pk: place(submission) for submission in submissions}


def public_ranks(phases: Iterable[Phase], *, now: datetime) -> dict[tuple[int, int], int]:
    """Every team's rank on the public boards of some phases, by phase and team: one query, a row a team."""
    known = {phase.pk: phase for phase in phases}
    ladders = [phase.pk for phase in known.values() if phase.has_ladder(now)]
    shown = Q(evaluation__published=F("evaluation")) | ~Q(evaluation__submission__phase__in=ladders)
    scores = Score.objects.filter(
        shown,
        split="public",
        value__isnull=False,
        evaluation__signature=F("evaluation__submission__phase__signature"),
        evaluation__submission__phase__in=known,
        evaluation__submission__status=Status.SCORED,
        evaluation__submission__team__is_baseline=False,
    )
    teams = scores.values_list("evaluation__submission__phase", "metric", "evaluation__submission__team")
    bests: dict[int, dict[int, float]] = {}
    for phase, metric, team, best in teams.annotate(best=Max("value")):
        if metric == known[phase].declared_track.headline:
            bests.setdefault(phase, {})[team] = best
    ranks: dict[tuple[int, int], int] = {}
    for phase, of_teams in bests.items():
        order = sorted(of_teams, key=of_teams.__getitem__, reverse=True)
        places = competition_ranks([of_teams[team] for team in order])
        ranks |= {(phase, team): rank for team, rank in zip(order, places, strict=True)}
    return ranks


def _why_unshown(submission: Submission) -> str:
    evaluation = current_evaluation(submission)
    if evaluation is not None and evaluation.published_id is not None:
        return UNCLEAR.format(margin=ladder_margin(submission.phase))
    return COMPARING if submission.stage else INCOMPARABLE


def _why_not(submission: Submission, *, scored: bool, counting: bool) -> str:
    if counting:
        return "Another submission of the team scores higher, or as high and was there first."
    if scored:
        return "It is not one of the team's final submissions."
    if submission.status != Status.SCORED:
        return UNSCORED[Status(submission.status)]
    evaluation = current_evaluation(submission)
    if evaluation is not None and evaluation.signature == submission.phase.signature:
        return "Its score is undefined: the truth of this split holds nothing to find."
    return "It was scored against another truth or by another version, and scores of two kinds never share a board."


def _closed_until(phase: Phase, split: str) -> str:
    when = f"is over, at {phase.closing:%Y-%m-%d %H:%M} UTC" if phase.closing else "has been closed by its organizers"
    board = "leaderboard of all images" if split == "all" else f"{split} leaderboard"
    return f"The {board} opens when the phase {when}. Until then, read the public one."


def _all_metrics(evaluations: list[int], split: str) -> dict[int, dict[str, float | None]]:
    metrics: dict[int, dict[str, float | None]] = {}
    scores = Score.objects.filter(evaluation__in=evaluations, split=split).order_by("pk")
    for evaluation, metric, value in scores.values_list("evaluation_id", "metric", "value"):
        metrics.setdefault(evaluation, {})[metric] = value
    return metrics


def _row(
    rank: int | None, entry: Candidate, *, field: Field, metrics: dict[int, dict[str, float | None]], seen: Sight
) -> Row:
    return Row(
        rank=rank,
        team=entry.team,
        team_id=entry.team_id,
        score=seen.rounded(entry.score),
        interval=seen.interval(entry.low, entry.high),
        scores={name: seen.number(value) for name, value in metrics[entry.evaluation_id].items()},
        entries=field.entries[entry.team_id],
        submitted_at=entry.submitted_at,
        baseline=entry.baseline,
        submission_id=entry.submission_id,
        evaluation_id=entry.evaluation_id,
    )
