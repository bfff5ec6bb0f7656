"""Reads submissions together with the scores that the viewer may see."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from server.challenges.models import Challenge, Phase, Team
from server.challenges.visibility import Viewer
from server.clock import DatabaseNow
from server.compiled_queries import compiled_query
from server.submissions.feedback import ScoreAccess, load_scores, score_access
from server.submissions.models import QuotaEntry, Submission


@dataclass(frozen=True, slots=True)
class ReadSubmission:
    """A submission with its scores, the viewer's access to scores, and the current database time `now`.

    `given_back` is true if the quota for the submission was given back. `is_organizer` is true if the viewer organizes
    the challenge. Otherwise, the viewer is in the team.
    """

    submission: Submission
    access: ScoreAccess
    now: datetime
    given_back: bool
    is_organizer: bool


def read_submission(user: Any, pk: UUID, *, with_notices: bool = False) -> ReadSubmission | None:
    """Return the submission with this id, or None if it does not exist or the user may not see it.

    If `with_notices` is true, the notices in the reports of its evaluations are loaded as well; see `load_scores`.
    """
    found = submissions_with_phase(pk=pk, user=user.pk, is_staff=user.is_staff) if user.is_authenticated else []
    if not found:
        return None
    (one,) = found
    load_scores([one], with_notices=with_notices)
    access = score_access(one.phase, viewer=user, now=one.now, is_organizer=one.is_organizer)
    return ReadSubmission(one, access, one.now, one.given_back, one.is_organizer)


@compiled_query
def submissions_with_phase(*, pk: UUID, user: int, is_staff: bool) -> QuerySet[Any]:
    viewer = Viewer(user, is_staff)
    organized = Challenge.objects.organized_by(viewer).filter(pk=OuterRef("phase__challenge"))
    seen = Submission.objects.visible_to(viewer).select_related("phase__challenge", "team", "user")
    given_back = QuotaEntry.objects.filter(submission=OuterRef("pk"), amount=-1)
    roles = {"is_organizer": Exists(organized), "given_back": Exists(given_back)}
    return seen.filter(pk=pk).annotate(**roles, now=DatabaseNow())


@compiled_query
def numbers_of_submissions(*, team: int, phase: int) -> QuerySet[Any, Any]:
    """Return how many submissions a team has in a phase, and how many of them it has selected as final."""
    own = Submission.objects.order_by().filter(team=team, phase=phase).values("team")
    return own.annotate(every=Count("pk"), final=Count("pk", filter=Q(final=True))).values_list("every", "final")


def read_submissions(team: Team, phase: Phase, *, rows: range) -> list[Submission]:
    """Return a range of a team's submissions to a phase, newest first, with their scores."""
    found = submissions_of_team(team=team.pk, phase=phase.pk, rows=rows)
    for one in found:
        one.team, one.phase = team, phase
    load_scores(found)
    return found


@compiled_query
def submissions_of_team(*, team: int, phase: int, rows: range) -> QuerySet[Submission]:
    return Submission.objects.filter(team=team, phase=phase)[rows.start : rows.stop]
