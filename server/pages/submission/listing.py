"""The list of a team's submissions: its rows, its filter, and a hint about selecting final submissions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from evaluator.digits import Interval
from server.challenges.models import Phase, Team
from server.pages.submission.score_chart import OwnScore
from server.submissions.feedback import (
    ScoreAccess,
    current_evaluation,
    intervals_in,
    load_scores,
    scores_in,
    shown_evaluation,
)
from server.submissions.models import Status, Submission

ANY_KEY = UUID(int=0)
SEARCH_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ListedSubmission:
    """A row in the list of a team's submissions, with the headline score that the viewer may see.

    `is_of_best` is true if ladder feedback hides the submission's own score, so that the row shows the score of the
    team's best submission instead. `has_score` is false if there is no score to show.
    """

    submission: Submission
    key: str
    url: str
    edit_url: str
    is_scored: bool
    has_score: bool
    score: float | None
    interval: Interval | None
    is_best: bool
    is_of_best: bool
    has_method: bool


def listed(submission: Submission, access: ScoreAccess, *, best: float | None) -> ListedSubmission:
    headline = submission.phase.declared_track.headline
    score = scores_in(submission, access).get("public", {}).get(headline)
    shown = shown_evaluation(submission, access)
    is_own = shown == current_evaluation(submission)
    is_scored = submission.status == Status.SCORED
    return ListedSubmission(
        submission=submission,
        key=str(submission.pk),
        url=address_of("submission", submission),
        edit_url=address_of("submission_edit", submission),
        is_scored=is_scored,
        has_score=is_scored and (is_own or shown is not None),
        score=score,
        interval=intervals_in(submission, access).get("public", {}).get(headline),
        is_best=is_own and score is not None and score == best,
        is_of_best=is_scored and not is_own and shown is not None,
        has_method=bool(submission.method or submission.paper_url or submission.code_url),
    )


@cache
def address_with(view: str, key: UUID) -> str:
    return reverse(view, args=[key])


def address_of(view: str, submission: Submission) -> str:
    """Return the URL of a page about a submission, given the page's URL name.

    For speed, Django builds each URL only once with a placeholder, which is then replaced by the submission's id.
    """
    return address_with(view, ANY_KEY).replace(str(ANY_KEY), str(submission.pk))


@dataclass(frozen=True, slots=True)
class ListFilter:
    """The filter of a list of submissions: a status, and a string to find in the note, the method or the file name."""

    status: str
    text: str

    @property
    def is_active(self) -> bool:
        return bool(self.status or self.text)

    @property
    def query(self) -> str:
        """The filter as query parameters followed by an ampersand, or an empty string if the filter is not active."""
        given = {name: value for name, value in (("status", self.status), ("q", self.text)) if value}
        return f"{urlencode(given)}&" if given else ""

    def submissions(self, team: Team, phase: Phase) -> QuerySet[Submission]:
        """Return a team's submissions to a phase that match the filter, newest first."""
        found = Submission.objects.filter(team=team, phase=phase)
        if self.status:
            found = found.filter(status=self.status)
        if self.text:
            names = ("note", "method", "file_name")
            found = found.filter(Q(*((f"{name}__icontains", self.text) for name in names), _connector=Q.OR))
        return found

    def rows(self, team: Team, phase: Phase, rows: slice) -> list[Submission]:
        """Return a slice of a team's submissions that match the filter, with their scores loaded."""
        found = list(self.submissions(team, phase)[rows])
        for one in found:
            one.team, one.phase = team, phase
        load_scores(found)
        return found


def list_filter(parameters: Mapping[str, str]) -> ListFilter:
    """Return the filter that the query parameters describe. An unknown status is ignored."""
    status, text = parameters.get("status", ""), parameters.get("q", "")
    text = " ".join(text.replace("\0", " ").split())[:SEARCH_CHARACTERS]
    return ListFilter(status if status in Status.values else "", text)


def best_not_final(scores: Sequence[OwnScore], finals_chosen: int, access: ScoreAccess) -> OwnScore | None:
    """Return the team's best submission if the team has selected final submissions, but none with the best score.

    Otherwise, return None. Under ladder feedback, always return None, because not every submission shows its own score.
    """
    if access.ladder or not scores or not finals_chosen:
        return None
    best = max(scores, key=lambda one: one.score)
    return None if any(one.is_final and one.score == best.score for one in scores) else best
