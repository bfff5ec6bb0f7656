"""The rank of a submission, and why it is not on the leaderboard."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from server.challenges.feedback_leakage import ladder_margin
from server.challenges.models import Phase, Team
from server.leaderboards.models import Board, Entry
from server.leaderboards.queries import kind_of, with_better
from server.leaderboards.scored_entries import SPLITS, TeamScores, read_scores
from server.submissions.feedback import current_evaluation
from server.submissions.models import Status, Submission

NOT_SCORED = {
    Status.QUEUED: "It is waiting to be scored.",
    Status.RUNNING: "It is being scored.",
    Status.REJECTED: "The file was rejected. Fix its defects and submit again.",
    Status.FAILED: "It could not be scored, which is not the fault of the file. Submit it again.",
    Status.CANCELLED: "It was cancelled. Submit the file again to have it scored.",
}
DISQUALIFIED = "The organizers disqualified your team, so it is on no leaderboard. Their reason: {reason}"
BEATEN = "Your team's best submission holds its place on the leaderboard."
NOT_FINAL = "It is not one of the team's final submissions."
UNDEFINED = "Its score is undefined, because the ground truth of this split has no objects to find."
OF_ANOTHER_KIND = (
    "It was scored against another ground truth or by another version. Only scores of one kind are ranked together."
)
UNCLEAR = (
    "It does not beat your team's best by more than {margin} of the difference, so the score of your team's best is "
    "shown instead."
)
COMPARING = "It is being compared with your team's best. Its score will be shown if it is clearly higher."
INCOMPARABLE = "It could not be compared with your team's best, so it shows no score. Write to the organizers."


@dataclass(frozen=True, slots=True)
class Standing:
    """The rank of one submission on the leaderboard of `split`. `why_not` is empty if it is on the leaderboard."""

    split: str
    on_board: bool
    why_not: str
    rank: int | None


def standing(submission: Submission, *, now: datetime) -> Standing:
    """Return the rank of a submission on the public leaderboard, or on the private one once the phase is over."""
    return standings(submission.phase, [submission], now=now)[submission.pk]


def standings(phase: Phase, submissions: Iterable[Submission], *, now: datetime) -> dict[UUID, Standing]:
    """Return the ranks of several submissions of one phase, on the leaderboard that its teams see.

    This reads the scores of their teams only, and counts one rank for each team.
    """
    asked = list(submissions)
    teams = {one.team_id for one in asked if one.status == Status.SCORED}
    kind, kept = deciding_board(phase, now=now)
    split = SPLITS[Board.Kind(kind)]
    listed: dict[UUID, int | None] = {}  # the rank of each submission that is an entry
    if kept is not None and teams:
        entries = with_better(Entry.objects.present().filter(board=kept, team__in=teams))
        for one, baseline, better in entries.values_list("evaluation__submission", "is_baseline", "better"):
            listed[one] = None if baseline else better + 1
    beaten = {one.team_id for one in asked if one.pk not in listed} & teams
    scores = read_scores(phase, signature=phase.signature, teams=beaten) if beaten else {}
    reasons = disqualified(beaten)

    def standing_of(submission: Submission) -> Standing:
        if submission.pk in listed:
            return Standing(split, True, "", listed[submission.pk])
        reason = reasons.get(submission.team_id) or why_not(submission, scores.get((kind, submission.team_id)))
        return Standing(split, False, reason, None)

    return {one.pk: standing_of(one) for one in asked}


def disqualified(teams: Collection[int]) -> dict[int, str]:
    """Return what members of disqualified teams are told, by team."""
    found = Team.objects.filter(pk__in=teams).exclude(disqualified_at=None) if teams else Team.objects.none()
    return {team.pk: DISQUALIFIED.format(reason=team.disqualification_reason) for team in found}


def deciding_board(phase: Phase, *, now: datetime) -> tuple[str, Board | None]:
    """Return the kind and row of the leaderboard that decides: the private one when the phase is over.

    Without private images it is always the public one.
    """
    kinds = {kind_of("public", ladder=phase.has_ladder(now))} | ({"private"} if phase.has_closed(now) else set())
    boards = {one.kind: one for one in Board.objects.filter(phase=phase, signature=phase.signature, kind__in=kinds)}
    private = boards.get(Board.Kind.PRIVATE)
    if private is not None and private.listed:
        return Board.Kind.PRIVATE, private
    kind = kind_of("public", ladder=phase.has_ladder(now))
    return kind, boards.get(kind)


def why_not(submission: Submission, scores: TeamScores | None) -> str:
    """Return why a submission is not on the leaderboard, given its team's scores on it."""
    if submission.status != Status.SCORED:
        return NOT_SCORED[Status(submission.status)]
    own = next((one for one in scores.scored if one.submission_id == submission.pk), None) if scores else None
    if scores is None or own is None:
        evaluation = current_evaluation(submission)
        is_current = evaluation is not None and evaluation.signature == submission.phase.signature
        return UNDEFINED if is_current else OF_ANOTHER_KIND
    if own in scores.counting:
        return BEATEN
    return why_hidden(submission) if scores.kind == Board.Kind.PUBLISHED else NOT_FINAL


def why_hidden(submission: Submission) -> str:
    """Return why a ladder hides the score of a submission."""
    evaluation = current_evaluation(submission)
    if evaluation is not None and evaluation.published_id is not None:
        return UNCLEAR.format(margin=ladder_margin(submission.phase))
    return COMPARING if submission.stage else INCOMPARABLE
