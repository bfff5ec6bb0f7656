"""Leaderboards and ranks as one person may see them, read in a constant number of queries."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Max

from evaluator.digits import Interval
from server.challenges.feedback_leakage import ladder_margin
from server.challenges.models import Phase
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.ranking import Candidate, competition_ranks
from server.leaderboards.scored_entries import ScoredEntries, read_entries
from server.submissions.feedback import ScoreAccess, current_evaluation, score_access
from server.submissions.models import Score, Status, Submission

NOT_SCORED = {
    Status.QUEUED: "It is waiting to be scored.",
    Status.RUNNING: "It is being scored.",
    Status.REJECTED: "The file was rejected. Fix its defects and submit again.",
    Status.FAILED: "It could not be scored, which is not the fault of the file. Submit it again.",
    Status.CANCELLED: "It was cancelled. Submit the file again to have it scored.",
}
UNCLEAR = (
    "It does not beat your team's best by more than {margin} of the difference, so the score of your team's best is "
    "shown instead."
)
COMPARING = "It is being compared with your team's best. Its score will be shown if it is clearly higher."
INCOMPARABLE = "It could not be compared with your team's best, so it shows no score. Write to the organizers."

NO_ACCESS = ScoreAccess(frozenset(), None, False)


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A team's entry on a leaderboard, or a baseline's, which has no rank."""

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
    # Whether it is tied with the next team above; None if unknown or not computed (see `ties`).
    tied: bool | None = None
    joined: bool = False  # whether the bracket of a tie connects it to the row above


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of one split and one signature, at the time `at`."""

    split: str
    signature: str
    at: datetime
    rows: list[BoardRow]
    access: ScoreAccess = NO_ACCESS

    def index_of(self, team_id: int | None) -> int | None:
        """Return the index of a team's row; None if it has none."""
        return next((index for index, row in enumerate(self.rows) if row.team_id == team_id), None)


@dataclass(frozen=True, slots=True)
class Standing:
    """The rank of one submission on the leaderboard of `split`. `why_not` is empty if it is on the leaderboard."""

    split: str
    on_board: bool
    why_not: str
    rank: int | None


def board(phase: Phase, *, split: str, at: datetime | None = None, viewer: Any) -> Board:
    """Return the leaderboard of one split. `at` leaves out submissions that were received later.

    Raises Refused if the viewer may not see this split yet.
    """
    now = database_now()
    access = score_access(phase, viewer=viewer, now=now)
    if split not in access.splits:
        raise Refused("forbidden", _closed_until(phase, split))
    scored = read_entries(phase, split=split, at=at, ladder=access.ladder)
    metrics = _all_metrics([entry.evaluation_id for _, entry in scored.standings], split)
    rows = [_row(rank, entry, scored=scored, metrics=metrics, access=access) for rank, entry in scored.standings]
    return Board(split, phase.signature, at or now, rows, access)


def standing(submission: Submission, *, now: datetime) -> Standing:
    """Return the rank of a submission on the public leaderboard, or on the private one once the phase is over."""
    return standings(submission.phase, [submission], now=now)[submission.pk]


def standings(phase: Phase, submissions: Iterable[Submission], *, now: datetime) -> dict[UUID, Standing]:
    """Return the ranks of several submissions of one phase, on the leaderboard that its teams see."""
    entries = read_entries(phase, split="private") if phase.has_closed(now) else None
    if entries is None or not entries.candidates:  # without private images the public leaderboard is the final one
        entries = read_entries(phase, split="public", ladder=phase.has_ladder(now))
    ranks = {entry.submission_id: rank for rank, entry in entries.standings}
    counting = {one.submission_id for one in entries.counting}
    visible = {one.submission_id for one in entries.candidates}
    hidden = {one.submission_id for one in entries.scored} - visible

    def standing_of(submission: Submission) -> Standing:
        if submission.pk in ranks:
            return Standing(entries.split, True, "", ranks[submission.pk])
        if submission.pk in hidden:
            return Standing(entries.split, False, _why_hidden(submission), None)
        why_not = _why_not(submission, scored=submission.pk in visible, counting=submission.pk in counting)
        return Standing(entries.split, False, why_not, None)

    return {submission.pk: standing_of(submission) for submission in submissions}


def public_ranks(phases: Iterable[Phase], *, now: datetime) -> dict[tuple[int, int], int]:
    """Return every team's rank on the public leaderboards of some phases, by phase and team, with one query."""
    known = {phase.pk: phase for phase in phases}
    scores = Score.objects.visible(ladders=[phase for phase in known.values() if phase.has_ladder(now)]).filter(
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
        in_order = competition_ranks([of_teams[team] for team in order])
        ranks |= {(phase, team): rank for team, rank in zip(order, in_order, strict=True)}
    return ranks


def _why_hidden(submission: Submission) -> str:
    evaluation = current_evaluation(submission)
    if evaluation is not None and evaluation.published_id is not None:
        return UNCLEAR.format(margin=ladder_margin(submission.phase))
    return COMPARING if submission.stage else INCOMPARABLE


def _why_not(submission: Submission, *, scored: bool, counting: bool) -> str:
    if counting:
        return "Your team's best submission holds its place on the leaderboard."
    if scored:
        return "It is not one of the team's final submissions."
    if submission.status != Status.SCORED:
        return NOT_SCORED[Status(submission.status)]
    evaluation = current_evaluation(submission)
    if evaluation is not None and evaluation.signature == submission.phase.signature:
        return "Its score is undefined, because the ground truth of this split has no objects to find."
    return (
        "It was scored against another ground truth or by another version. Only scores of the same kind are ranked "
        "together."
    )


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
    rank: int | None,
    entry: Candidate,
    *,
    scored: ScoredEntries,
    metrics: dict[int, dict[str, float | None]],
    access: ScoreAccess,
) -> BoardRow:
    return BoardRow(
        rank=rank,
        team=entry.team,
        team_id=entry.team_id,
        score=access.rounded(entry.score),
        interval=access.interval(entry.low, entry.high),
        scores={name: access.number(value) for name, value in metrics[entry.evaluation_id].items()},
        entries=scored.entries[entry.team_id],
        submitted_at=entry.submitted_at,
        baseline=entry.baseline,
        submission_id=entry.submission_id,
        evaluation_id=entry.evaluation_id,
    )
