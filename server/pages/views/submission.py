"""One submission: its status followed by itself, then its scores and place, or its defects."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from server.accounts.requests import PersonRequest
from server.clock import database_now
from server.errors import Refused
from server.leaderboards import queries
from server.pages import place, statuses
from server.pages.answers import answer
from server.pages.report import report_of
from server.pages.results import result_of
from server.submissions import feedback, reports
from server.submissions.feedback import Sight
from server.submissions.models import QuotaEntry, Status, Submission
from server.submissions.reports import State
from server.submissions.services import keeping, lifecycle

NO_CONTENT, UNAUTHORIZED = 204, 401


def visible_to(user: Any) -> QuerySet[Submission]:
    return feedback.with_scores(Submission.objects.visible_to(user)).select_related("user", "phase__challenge", "team")


@require_safe
@login_required
def submission(request: PersonRequest, pk: UUID) -> HttpResponse:
    return show(request, get_object_or_404(visible_to(request.user), pk=pk))


def show(request: PersonRequest, one: Submission, refusal: Refused | None = None) -> HttpResponse:
    here = place.at(request, one.phase)
    seen = feedback.sight(one.phase, viewer=request.user, now=here.now)
    context = panel_context(request, one, here.now, seen, explained_to(seen, one)) | {"place": here, "refusal": refusal}
    return answer(request, "submission/page.html", context)


@require_safe
def panel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The part that changes. `seen` is the state the page has announced already."""
    if not request.user.is_authenticated:
        login = f"{reverse('account_login')}?{urlencode({'next': reverse('submission', args=[pk])})}"
        return HttpResponse(status=UNAUTHORIZED, headers={"HX-Redirect": login})
    one = get_object_or_404(visible_to(request.user), pk=pk)
    known, now = request.GET.get("seen", ""), database_now()
    seen = feedback.sight(one.phase, viewer=request.user, now=now)
    explained = explained_to(seen, one)
    state = statuses.state_of(one, explained)
    if one.status in (Status.QUEUED, Status.SCORED) and known == state:
        return HttpResponse(status=NO_CONTENT)
    context = panel_context(request, one, now, seen, explained)
    return render(request, "submission/panel.html", context | {"announce": known != state})


def explained_to(seen: Sight, one: Submission) -> State:
    """How far the explanation is, for those who may read it."""
    evaluation = feedback.current_evaluation(one)
    return reports.state_of(one, evaluation) if evaluation and seen.classes else State.NONE


def panel_context(
    request: HttpRequest, one: Submission, now: datetime, seen: Sight, explained: State
) -> dict[str, Any]:
    """Everything that the panel shows of a submission in its present state."""
    context: dict[str, Any] = {
        "submission": one,
        "now": now,
        "notices": one.problems.get("notices", []),
        "given_back": QuotaEntry.objects.filter(submission=one, amount=-1).exists(),
        "removal": keeping.removal_of(one),
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "may_cancel": not one.is_finished,
    }
    if one.status == Status.SCORED:
        context |= scored_context(request, one, now, seen, explained)
    if not one.is_settled or explained is State.PENDING:
        asked = (context.get("report") or {}).get("follow", "?")
        address = reverse("submission_panel", args=[one.pk])
        context["follow"] = f"{address}{asked}seen={statuses.state_of(one, explained)}"
    return context


def scored_context(
    request: HttpRequest, one: Submission, now: datetime, seen: Sight, explained: State
) -> dict[str, Any]:
    """Scores and place, notices, and the report as far as the phase's policy shows it."""
    evaluation = feedback.current_evaluation(one)
    result = result_of(one, seen)
    if evaluation is None or result is None:
        return {"result": result, "standing": queries.standing(one, now=now)}
    return {
        "result": result,
        "standing": queries.standing(one, now=now),
        "notices": evaluation.report.get("notices", []),
        "report": report_of(request.GET, one, seen, result, explained),
    }


@require_POST
@login_required
def cancel(request: PersonRequest, pk: UUID) -> HttpResponse:
    one = get_object_or_404(visible_to(request.user), pk=pk)
    try:
        lifecycle.cancel(submission=one, by=request.user)
    except Refused as refusal:
        return show(request, get_object_or_404(visible_to(request.user), pk=pk), refusal)
    messages.success(request, "The submission was cancelled.")
    return redirect("submission", pk)
