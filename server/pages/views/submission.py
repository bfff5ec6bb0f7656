"""The page of a submission. It shows the status, and later either the scores and the report or the defects."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from evaluator.report_page.content import METRICS
from server.accounts.requests import PersonRequest, is_local
from server.challenges.roles import Right
from server.errors import Refused
from server.leaderboards.own_entry import NextRank, next_rank
from server.leaderboards.standings import Standing
from server.leaderboards.standings import standing as standing_of
from server.pages.challenge_context import context_of_phase
from server.pages.rendering import render_page
from server.pages.report.report import Report, report_of
from server.pages.submission.defect_groups import defect_count
from server.pages.submission.improvement import improvement_of
from server.pages.submission.results import result_of
from server.pages.submission.status_messages import fault_message, progress_key, status_message
from server.submissions import feedback, reports
from server.submissions.models import Status, Submission
from server.submissions.reading import ReadSubmission, read_submission
from server.submissions.reports import ExplanationState
from server.submissions.services import intake, lifecycle, own_files, retention
from server.submissions.services.waiting import Wait, estimated_wait

NO_CONTENT, UNAUTHORIZED = 204, 401


def read_or_404(user: Any, pk: UUID) -> ReadSubmission:
    """Return the submission with the given id. Raises Http404 if it does not exist or the user may not see it."""
    found = read_submission(user, pk, with_notices=True)
    if found is None:
        raise Http404("no such submission")
    return found


@require_safe
@login_required
def submission(request: PersonRequest, pk: UUID, tab: str = METRICS) -> HttpResponse:
    return show(request, pk, tab=tab)


def show(request: PersonRequest, pk: UUID, refusal: Refused | None = None, *, tab: str = METRICS) -> HttpResponse:
    read = read_or_404(request.user, pk)
    current = context_of_phase(request, read.submission.phase)
    read.submission.phase = current.required_phase()
    context = panel_context(request, read, explanation_state(read), wait_of(read.submission), tab=tab)
    is_member = current.team is not None and current.team.pk == read.submission.team_id
    context |= {"current": current, "refusal": refusal, "is_member": is_member}
    return render_page(request, "submission/page.html", context)


@require_safe
def panel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the panel with the current state of a submission, or status 204 if the page already shows this state.

    While a submission is being scored, the panel is always returned, because it shows the progress.
    """
    if not request.user.is_authenticated:
        login = f"{reverse('account_login')}?{urlencode({'next': reverse('submission', args=[pk])})}"
        return HttpResponse(status=UNAUTHORIZED, headers={"HX-Redirect": login})
    read = read_or_404(request.user, pk)
    seen, explained = request.GET.get("seen", ""), explanation_state(read)
    wait = wait_of(read.submission)
    key = progress_key(read.submission, explained, wait)
    if read.submission.status in (Status.QUEUED, Status.SCORED) and seen == key:
        return HttpResponse(status=NO_CONTENT)
    # Screen readers announce a new state of the submission. A change of the queue position is not announced, because it
    # is too frequent.
    is_new = seen != key and not (wait and seen.startswith(Status.QUEUED))
    context = panel_context(request, read, explained, wait, tab=request.GET.get("tab", METRICS))
    return render(request, "submission/panel.html", context | {"announce": is_new})


def wait_of(one: Submission) -> Wait | None:
    return estimated_wait(one) if one.status == Status.QUEUED else None


def explanation_state(read: ReadSubmission) -> ExplanationState:
    """Return the state of a submission's explanation, or `NONE` if the viewer may not read the explanation.

    The explanation consists of additional report tables, such as the kinds of errors, which are computed after scoring.
    """
    evaluation = feedback.current_evaluation(read.submission) if read.access.classes else None
    return reports.explanation_state(read.submission, evaluation) if evaluation else ExplanationState.NONE


def panel_context(
    request: HttpRequest, read: ReadSubmission, explained: ExplanationState, wait: Wait | None, *, tab: str
) -> dict[str, Any]:
    """Return the template context for the panel with the current state of a submission and one tab of its report.

    With the query parameter `brief`, the panel contains no report.
    """
    one, brief = read.submission, "brief" in request.GET
    context: dict[str, Any] = {
        "submission": one,
        "now": read.now,
        "message": status_message(one, wait),
        "brief": brief,
        "fault": fault_message(one, given_back=read.given_back),
        "changed_at": one.enqueued_at if one.status == Status.QUEUED else one.finished_at,
        "is_running": one.status == Status.RUNNING,
        "defects": defect_count(one.problems) if one.status == Status.REJECTED else "",
        "notices": one.problems.get("notices", []),
        "given_back": read.given_back,
        "removal": retention.removal_time(one),
        "removed": "" if one.file else retention.removal_text(one),
        "may_cancel": not one.is_finished and may_cancel(request.user, read),
        "may_submit_anyway": not read.is_organizer and one.has_nothing_to_score and bool(one.file),
        "may_submit_again": not read.is_organizer and one.is_finished and one.status != Status.SCORED,
    }
    report: Report | None = None
    if one.status == Status.SCORED:
        context |= scored_context(read)
        if not brief and context["result"]:
            report = report_of(request.GET, one, read.access, context["result"], explained, tab)
    if tab != METRICS and report is None and not brief:
        raise Http404("this report has no such tab")
    if not one.is_settled or (explained is ExplanationState.PENDING and not brief):
        query = report.poll_query if report else "?brief=1&" if brief else "?"
        address = reverse("submission_panel", args=[one.pk])
        context["poll_url"] = f"{address}{query}seen={progress_key(one, explained, wait)}"
    return context | {"report": report}


def may_cancel(user: Any, read: ReadSubmission) -> bool:
    """Return whether a person who can see an unfinished submission may cancel it.

    Members of its team may cancel it, and so may owners and editors of the challenge, unless it is archived.
    """
    challenge = read.submission.phase.challenge
    if not read.is_organizer:
        return True
    return challenge.archived_at is None and bool(challenge.is_organized_by(user, Right.EDIT))


def scored_context(read: ReadSubmission) -> dict[str, Any]:
    """Return the template context for the scores, the rank and the notices of a scored submission."""
    one = read.submission
    result, standing = result_of(one, read.access), standing_of(one, now=read.now)
    context: dict[str, Any] = {"result": result, "standing": standing, "next_rank": next_rank_of(read, standing)}
    # Only organizers and members of the team can see the page, and only organizers may see unrounded confidence
    # intervals. A viewer who may not see them is therefore a member of the team.
    context["is_own"] = not read.access.exact_ends
    evaluation = feedback.current_evaluation(one)
    if result is None or evaluation is None:
        return context | {"message": standing.why_not}
    return context | {
        "notices": evaluation.notices or [],  # type: ignore[attr-defined]  # annotated by `load_scores`
        "improvement": improvement_of(one, result, read.access),
    }


def next_rank_of(read: ReadSubmission, standing: Standing) -> NextRank | None:
    """Return the next higher rank on the leaderboard and the score gap to it.

    Return None if the submission has no rank, or if ladder feedback hides exact scores.
    """
    if standing.entry is None or read.submission.phase.has_ladder(read.now):
        return None
    return next_rank(standing.entry, access=read.access)


@require_safe
@login_required
def own_file(request: PersonRequest, pk: UUID) -> FileResponse:
    """Serve the file of one of the team's own submissions, exactly as it was uploaded."""
    return own_files.download(submission=read_or_404(request.user, pk).submission, by=request.user)


@require_POST
@login_required
def cancel(request: PersonRequest, pk: UUID) -> HttpResponse:
    try:
        lifecycle.cancel(submission=read_or_404(request.user, pk).submission, by=request.user)
    except Refused as refusal:
        return show(request, pk, refusal)
    messages.success(request, "The submission was cancelled.")
    back = request.POST.get("next", "")
    return redirect(back) if is_local(back) else redirect("submission", pk)


@require_POST
@login_required
def submit_anyway(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Submit the file of a rejected submission again, to have it scored although no prediction can earn a score."""
    try:
        again = intake.submit_anyway(submission=read_or_404(request.user, pk).submission, by=request.user)
    except Refused as refusal:
        return show(request, pk, refusal)
    return redirect("submission", again.pk)
