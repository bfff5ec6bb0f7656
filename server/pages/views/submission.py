"""The page of a submission: its status, then its scores and report, or its defects."""

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
from server.leaderboards.standings import standing as standing_of
from server.pages.challenge_context import context_of_phase
from server.pages.rendering import render_page
from server.pages.report.report import Report, report_of
from server.pages.submission.defect_groups import defect_count
from server.pages.submission.results import result_of
from server.pages.submission.status_messages import fault_message, progress_key, status_message
from server.submissions import feedback, reports
from server.submissions.feedback import ScoreAccess
from server.submissions.models import QuotaEntry, Status, Submission
from server.submissions.reports import ExplanationState
from server.submissions.services import lifecycle, retention

NO_CONTENT, UNAUTHORIZED = 204, 401


def visible_to(user: Any) -> QuerySet[Submission]:
    return feedback.with_scores(Submission.objects.visible_to(user)).select_related("user", "phase__challenge", "team")


@require_safe
@login_required
def submission(request: PersonRequest, pk: UUID) -> HttpResponse:
    return show(request, get_object_or_404(visible_to(request.user), pk=pk))


def show(request: PersonRequest, one: Submission, refusal: Refused | None = None) -> HttpResponse:
    current = context_of_phase(request, one.phase)
    access = current.score_access
    context = panel_context(request, one, current.now, access, explanation_state(access, one))
    return render_page(request, "submission/page.html", context | {"current": current, "refusal": refusal})


@require_safe
def panel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the part of the page that changes, or 204 if the page already shows the current state."""
    if not request.user.is_authenticated:
        login = f"{reverse('account_login')}?{urlencode({'next': reverse('submission', args=[pk])})}"
        return HttpResponse(status=UNAUTHORIZED, headers={"HX-Redirect": login})
    one = get_object_or_404(visible_to(request.user), pk=pk)
    announced, now = request.GET.get("seen", ""), database_now()
    access = feedback.score_access(one.phase, viewer=request.user, now=now)
    explained = explanation_state(access, one)
    key = progress_key(one, explained)
    if one.status in (Status.QUEUED, Status.SCORED) and announced == key:
        return HttpResponse(status=NO_CONTENT)
    context = panel_context(request, one, now, access, explained)
    return render(request, "submission/panel.html", context | {"announce": announced != key})


def explanation_state(access: ScoreAccess, one: Submission) -> ExplanationState:
    """Return the progress of the explanation, for viewers who may read it."""
    evaluation = feedback.current_evaluation(one)
    return reports.explanation_state(one, evaluation) if evaluation and access.classes else ExplanationState.NONE


def panel_context(
    request: HttpRequest, one: Submission, now: datetime, access: ScoreAccess, explained: ExplanationState
) -> dict[str, Any]:
    """Return the template context of the panel for the current state of a submission."""
    given_back = QuotaEntry.objects.filter(submission=one, amount=-1).exists()
    context: dict[str, Any] = {
        "submission": one,
        "now": now,
        "message": status_message(one),
        "fault": fault_message(one, given_back=given_back),
        "changed_at": one.enqueued_at if one.status == Status.QUEUED else one.finished_at,
        "is_running": one.status == Status.RUNNING,
        "defects": defect_count(one.problems) if one.status == Status.REJECTED else "",
        "notices": one.problems.get("notices", []),
        "given_back": given_back,
        "removal": retention.removal_time(one),
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "may_cancel": not one.is_finished,
        "may_submit_again": one.is_finished and one.status != Status.SCORED,
    }
    report: Report | None = None
    if one.status == Status.SCORED:
        context |= scored_context(one, now, access)
        report = context["result"] and report_of(request.GET, one, access, context["result"], explained)
    if not one.is_settled or explained is ExplanationState.PENDING:
        query = report.poll_query if report else "?"
        address = reverse("submission_panel", args=[one.pk])
        context["poll_url"] = f"{address}{query}seen={progress_key(one, explained)}"
    return context | {"report": report}


def scored_context(one: Submission, now: datetime, access: ScoreAccess) -> dict[str, Any]:
    """Return the scores, the rank and the notices of a scored submission."""
    result, standing = result_of(one, access), standing_of(one, now=now)
    context: dict[str, Any] = {"result": result, "standing": standing}
    evaluation = feedback.current_evaluation(one)
    if result is None or evaluation is None:
        return context | {"message": standing.why_not}
    return context | {"notices": evaluation.report.get("notices", [])}


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
