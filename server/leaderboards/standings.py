"""Determines the rank of a submission, or the reason why it is not on the leaderboard."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from server.challenges.feedback_leakage import ladder_margin
from server.challenges.models import Phase
from server.clock import utc_text
from server.compiled_queries import compiled_query
from server.leaderboards import compared
from server.leaderboards.compared import RankInterval
from server.leaderboards.models import Board, Entry
from server.leaderboards.own_entry import RankedEntry
from server.leaderboards.present_ranks import with_better
from server.leaderboards.queries import kept_board, kind_of
from server.leaderboards.removals import removed_by
from server.leaderboards.scored_entries import SPLITS, TeamScores, read_scores
from server.leaderboards.services.terms import terms_at
from server.submissions.feedback import current_evaluation
from server.submissions.models import Evaluation, Status, Submission

NOT_SCORED = {
    Status.QUEUED: "It is waiting to be scored.",
    Status.RUNNING: "It is being scored.",
    Status.REJECTED: "The file was rejected. Fix its defects and submit again.",
    Status.FAILED: "It could not be scored. The problem is not with your file. Submit it again.",
    Status.CANCELLED: "It was cancelled. Submit the file again to have it scored.",
}
DISQUALIFIED = "The organizers disqualified your team, so it is not on any leaderboard. Reason: {reason}"
TAKEN_OFF = "The organizers removed your team from the leaderboards. Contact them if you want to know why."
HIDDEN = "The organizers hid this submission from the leaderboards. Contact them if you want to know why."
BEATEN = "Your team's best submission holds its place on the leaderboard."
NOT_FINAL = "It is not one of the team's final submissions."
TOO_MANY_FINAL = (
    "Your team selected more final submissions than are allowed now. Those with the best public scores count. It is "
    "not one of them."
)
UNDEFINED = "Its score is undefined, because the ground truth of this split has no objects to find."
OF_ANOTHER_KIND = (
    "It was scored against a different ground truth or by a different version of the evaluator. Only scores with the "
    "same ground truth and version are ranked together."
)
UNCLEAR = (
    "Its score does not exceed your team's best by more than {margin} of the difference, so the score of your team's "
    "best is "
    "shown instead."
)
COMPARING = "It is being compared with your team's best. Its score will be shown if it is clearly higher."
FROZEN = (
    "The leaderboard was frozen at {time} and shows the entries as of that time until the phase is over. This "
    "submission was scored later."
)
INCOMPARABLE = "It could not be compared with your team's best, so its score is not shown. Contact the organizers."


NEXT_UP = {name: F(f"compared__{name}") for name in ("next_up", "next_up_tied")}


@dataclass(frozen=True, slots=True)
class Standing:
    """The rank of a submission on the leaderboard of `split`.

    `why_not` is empty if the submission is on that leaderboard. `rank_interval` contains the ranks that the submission
    could have, or is None if they have not been computed. `entry` is the team's entry, which may be based on another
    submission, or None if the team has no entry.
    """

    split: str
    on_board: bool
    why_not: str
    rank: int | None
    rank_interval: RankInterval | None = None
    entry: RankedEntry | None = None


def standing(submission: Submission, *, now: datetime) -> Standing:
    """Return a submission's rank on the public leaderboard, or on the private leaderboard once the phase is over."""
    return standings(submission.phase, [submission], now=now)[submission.pk]


def standings(phase: Phase, submissions: Iterable[Submission], *, now: datetime) -> dict[UUID, Standing]:
    """Return the ranks of several submissions to one phase on the leaderboard that participants see.

    The caller must have called `feedback.load_scores` for the submissions. The rank is computed only once per team.
    """
    asked = list(submissions)
    teams = {one.team_id for one in asked if one.status == Status.SCORED}
    kind = deciding_kind(phase, now=now)
    split = SPLITS[Board.Kind(kind)]
    at = phase.freeze_at if phase.is_frozen(now) else None
    without = removed_by(phase, now) if at and teams else None
    entries = entries_at(phase, kind, [*teams], at, without) if teams else []
    # Maps the id of each submission that the leaderboard shows to its standing (its rank).
    listed: dict[UUID, Standing] = {}
    of_team: dict[int, RankedEntry] = {}
    for entry in entries:
        rank = None if entry.is_baseline else entry.better + 1
        next_up, tied = (None, None) if at else (entry.next_up, entry.next_up_tied)
        own = RankedEntry(entry.board_id, rank, entry.score, next_up, tied, at, without)
        of_team[entry.team_id] = own
        ranks = None if at else compared.rank_interval(entry, rank)
        listed[entry.submission_id] = Standing(split, True, "", rank, ranks, own)
    beaten = {one.team_id for one in asked if one.pk not in listed} & teams
    # The private scores are needed to explain why a submission does not count on the private leaderboard: this depends
    # on the other submissions of its team.
    finals = beaten if kind == Board.Kind.PRIVATE else set()
    scores = read_scores(phase, signature=phase.signature, teams=finals) if finals else {}

    def standing_of(submission: Submission) -> Standing:
        if submission.pk in listed:
            return listed[submission.pk]
        reason = why_not(submission, kind=kind, scores=scores.get((kind, submission.team_id)), frozen=at)
        return Standing(split, False, reason, None, None, of_team.get(submission.team_id))

    return {one.pk: standing_of(one) for one in asked}


def entries_at(phase: Phase, kind: str, teams: list[int], at: datetime | None, without: list[int] | None) -> list[Any]:
    """Return the entries of teams on the current leaderboard or, if `at` is given, on the leaderboard at that time.

    The entries of the teams in `without` are left out, because these teams were removed after the leaderboard was
    frozen.
    """
    teams = [team for team in teams if team not in (without or ())]
    if at is None:
        return listed_entries(phase=phase.pk, signature=phase.signature, kind=kind, teams=teams, at=None, without=None)
    terms = terms_at(phase, at)
    then = kind_of("public", ladder=kind == Board.Kind.PUBLISHED or (terms is not None and terms.ladder))
    signature = terms.signature if terms else ""
    return listed_entries(phase=phase.pk, signature=signature, kind=then, teams=teams, at=at, without=without)


@compiled_query
def listed_entries(
    *, phase: int, signature: str, kind: str, teams: list[int], at: datetime | None, without: list[int] | None
) -> QuerySet[Any, Any]:
    """Return teams' entries, each with its submission, its comparison result and the number of teams that score higher.

    Entries for an earlier time have no comparison result.
    """
    entries = Entry.objects.present() if at is None else Entry.objects.at(at)
    entries = entries.filter(board__phase=phase, board__signature=signature, board__kind=kind)
    related = {"submission_id": F("evaluation__submission")} | ({} if at else compared.COLUMNS | NEXT_UP)
    found = with_better(entries.filter(team__in=teams), at, without).annotate(**related)
    return found.values_list("board_id", "team_id", "is_baseline", "score", "better", *related, named=True)


def deciding_kind(phase: Phase, *, now: datetime) -> str:
    """Return the kind of leaderboard that decides the ranking: private once its scores are shown, otherwise public.

    Under ladder feedback, "published" takes the place of "public". If the private leaderboard has no entries, for
    example because there are no private images, it never decides.
    """
    if phase.shows_private(now):
        private = kept_board(phase, split="private", ladder=False, signature=phase.signature)
        if private is not None and private.listed:
            return Board.Kind.PRIVATE
    return kind_of("public", ladder=phase.has_ladder(now))


def why_not(submission: Submission, *, kind: str, scores: TeamScores | None, frozen: datetime | None) -> str:
    """Return a sentence that explains why a submission is not on a leaderboard.

    `scores` are the team's private scores, if they decide the ranking. `frozen` is the time at which the leaderboard
    was frozen, or None if it is not frozen.
    """
    if submission.status != Status.SCORED:
        return NOT_SCORED[Status(submission.status)]
    if submission.team.disqualified_at is not None:
        shown = submission.team.disqualification_is_shown
        return DISQUALIFIED.format(reason=submission.team.disqualification_reason) if shown else TAKEN_OFF
    if submission.hidden_at is not None:
        return HIDDEN
    evaluation = current_evaluation(submission)
    if evaluation is not None and frozen is not None and evaluation.created_at > frozen:
        return FROZEN.format(time=utc_text(frozen))
    if evaluation is None or evaluation.signature != submission.phase.signature:
        return OF_ANOTHER_KIND
    if not is_defined(evaluation, submission.phase, split=SPLITS[Board.Kind(kind)]):
        return UNDEFINED
    if kind == Board.Kind.PUBLISHED and not evaluation.is_published:
        return why_hidden(submission)
    counting = {one.evaluation_id for one in scores.counting} if scores else {evaluation.pk}
    return BEATEN if evaluation.pk in counting else why_not_final(submission)


def why_not_final(submission: Submission) -> str:
    """Return a sentence that explains why a scored submission does not count on the private leaderboard."""
    return TOO_MANY_FINAL if submission.final else NOT_FINAL


def is_defined(evaluation: Evaluation, phase: Phase, *, split: str) -> bool:
    """Return whether the headline metric of an evaluation has a defined value on a split."""
    headline = (phase.declared_track.headline, split)
    return any(one.value is not None for one in evaluation.scores.all() if (one.metric, one.split) == headline)


def why_hidden(submission: Submission) -> str:
    """Return a sentence that explains why ladder feedback hides the score of a submission.

    Ladder feedback shows a score only if it is clearly better than the team's best score so far.
    """
    evaluation = current_evaluation(submission)
    if evaluation is not None and evaluation.published_id is not None:
        return UNCLEAR.format(margin=ladder_margin(submission.phase))
    return COMPARING if submission.stage else INCOMPARABLE
