"""The rank of a submission, and why it is not on the leaderboard."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from server.challenges.feedback_leakage import ladder_margin
from server.challenges.models import Phase
from server.leaderboards.models import Board, Entry
from server.leaderboards.queries import kind_of, with_better
from server.leaderboards.scored_entries import SPLITS, TeamScores, read_scores
from server.submissions.feedback import current_evaluation
from server.submissions.models import Evaluation, Status, Submission

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

    `feedback.with_scores` loads what this reads of them. One rank is counted for each team.
    """
    asked = list(submissions)
    teams = {one.team_id for one in asked if one.status == Status.SCORED}
    kind = deciding_kind(phase, now=now)
    split = SPLITS[Board.Kind(kind)]
    listed: dict[UUID, int | None] = {}  # the rank of each submission that is an entry
    if teams:
        entries = Entry.objects.present().filter(board__phase=phase, board__signature=phase.signature)
        entries = with_better(entries.filter(board__kind=kind, team__in=teams))
        for one, baseline, better in entries.values_list("evaluation__submission", "is_baseline", "better"):
            listed[one] = None if baseline else better + 1
    beaten = {one.team_id for one in asked if one.pk not in listed} & teams
    finals = beaten if kind == Board.Kind.PRIVATE else set()  # only there, other submissions decide what counts
    scores = read_scores(phase, signature=phase.signature, teams=finals) if finals else {}

    def standing_of(submission: Submission) -> Standing:
        if submission.pk in listed:
            return Standing(split, True, "", listed[submission.pk])
        reason = why_not(submission, kind=kind, scores=scores.get((kind, submission.team_id)))
        return Standing(split, False, reason, None)

    return {one.pk: standing_of(one) for one in asked}


def deciding_kind(phase: Phase, *, now: datetime) -> str:
    """Return the kind of the leaderboard that decides: the private one when the phase is over.

    Without private images it is always the public one.
    """
    if phase.has_closed(now):
        private = Board.objects.filter(phase=phase, signature=phase.signature, kind=Board.Kind.PRIVATE, listed__gt=0)
        if private.exists():
            return Board.Kind.PRIVATE
    return kind_of("public", ladder=phase.has_ladder(now))


def why_not(submission: Submission, *, kind: str, scores: TeamScores | None) -> str:
    """Return why a submission is not on the leaderboard of a kind; `scores` are its team's on the private one."""
    if submission.status != Status.SCORED:
        return NOT_SCORED[Status(submission.status)]
    if submission.team.disqualified_at is not None:
        return DISQUALIFIED.format(reason=submission.team.disqualification_reason)
    evaluation = current_evaluation(submission)
    if evaluation is None or evaluation.signature != submission.phase.signature:
        return OF_ANOTHER_KIND
    if not is_defined(evaluation, submission.phase, split=SPLITS[Board.Kind(kind)]):
        return UNDEFINED
    if kind == Board.Kind.PUBLISHED and evaluation.published_id != evaluation.pk:
        return why_hidden(submission)
    counting = {one.evaluation_id for one in scores.counting} if scores else {evaluation.pk}
    return BEATEN if evaluation.pk in counting else NOT_FINAL


def is_defined(evaluation: Evaluation, phase: Phase, *, split: str) -> bool:
    """Tell whether an evaluation has a headline score on a split."""
    headline = (phase.declared_track.headline, split)
    return any(one.value is not None for one in evaluation.scores.all() if (one.metric, one.split) == headline)


def why_hidden(submission: Submission) -> str:
    """Return why a ladder hides the score of a submission."""
    evaluation = current_evaluation(submission)
    if evaluation is not None and evaluation.published_id is not None:
        return UNCLEAR.format(margin=ladder_margin(submission.phase))
    return COMPARING if submission.stage else INCOMPARABLE
