"""The list of a team's submissions, and the form for editing a submission or selecting it as final."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from server.accounts.requests import PersonRequest
from server.challenges.models import Phase
from server.clock import is_over
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, context_of_phase, find_context
from server.pages.forms import EditForm
from server.pages.rendering import render_page
from server.pages.submission.listing import ANY_KEY, address_with, best_not_final, list_filter, listed
from server.pages.submission.score_chart import own_scores, score_chart
from server.pages.views import submission as submission_page
from server.submissions.models import Status, Submission
from server.submissions.reading import numbers_of_submissions, read_submissions
from server.submissions.services import choices, methods, quota, retention

PER_PAGE = 25
METHOD = ("method", "paper_url", "code_url")


@require_safe
@login_required
def submissions(request: PersonRequest, slug: str) -> HttpResponse:
    return show(request, find_context(request, slug))


def show(request: PersonRequest, current: ChallengeContext, refusal: Refused | None = None) -> HttpResponse:
    team, phase = current.required_team(), current.required_phase()
    access, chosen = current.score_access, list_filter(request.GET)
    scores = own_scores(team, phase, access)
    every, finals_chosen = next(iter(numbers_of_submissions(team=team.pk, phase=phase.pk)), (0, 0))
    count = chosen.submissions(team, phase).count() if chosen.is_active else every
    pages: Page[Any] = Paginator(range(count), PER_PAGE).get_page(request.GET.get("page"))
    rows = range(max(0, pages.start_index() - 1), pages.end_index())
    shown = (
        chosen.rows(team, phase, slice(rows.start, rows.stop))
        if chosen.is_active
        else read_submissions(team, phase, rows=rows)
    )
    best = max((one.score for one in scores), default=None)
    address = address_with("submission", ANY_KEY).replace(str(ANY_KEY), "{}")
    context = {
        "current": current,
        "now": current.now,
        "refusal": refusal,
        "pages": pages,
        "every": every,
        "filter": chosen,
        "statuses": Status.values,
        "listed": [listed(one, access, best=best) for one in shown],
        "may_compare": len(scores) > 1 and not access.ladder,
        "chart": score_chart(scores, phase=phase, access=access, address=address),
        "share": retention.storage_use(team),
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "quota": quota.state(team=team, phase=phase, now=current.now),
        "finals_chosen": finals_chosen,
        "better": None if is_over(current.closing, current.now) else best_not_final(scores, finals_chosen, access),
        "default_finals": default_finals(phase),
        "decimals": access.decimals,
    }
    return render_page(request, "submissions/submissions.html", context)


def default_finals(phase: Phase) -> str:
    """Return a phrase that states which submissions count on the private leaderboard by default.

    The default applies if the team does not select final submissions.
    """
    return "best public score counts" if phase.finals == 1 else f"{phase.finals} best public scores count"


@require_POST
@login_required
def edit(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Change a submission's note or method, or whether it is final (counts on the private leaderboard).

    Redirect to the page that contains the form.
    """
    visible = Submission.objects.visible_to(request.user).select_related("phase__challenge", "team")
    submission = get_object_or_404(visible, pk=pk)
    # Only the form on the submission's own page has the fields about the method.
    of_page = any(name in request.POST for name in METHOD)
    try:
        change(request, submission, EditForm(request.POST))
    except Refused as refusal:
        if of_page:
            return submission_page.show(request, pk, refusal)
        return show(request, context_of_phase(request, submission.phase), refusal)
    if of_page:
        return redirect("submission", pk)
    return redirect(list_address(context_of_phase(request, submission.phase), submission))


@transaction.atomic
def change(request: PersonRequest, submission: Submission, form: EditForm) -> None:
    if not form.is_valid():
        raise Refused("invalid", "A note can have at most 500 characters.")
    # A choice changes leaderboards, which are locked before any audit entry is written; see `audit.record`.
    if form.cleaned_data["final"] is not None:
        choices.set_final(submission=submission, by=request.user, final=form.cleaned_data["final"])
    if "note" in request.POST:
        choices.set_note(submission=submission, by=request.user, note=form.cleaned_data["note"])
    if method := {name: form.cleaned_data[name] for name in METHOD if name in request.POST}:
        methods.set_method(submission=submission, by=request.user, **method)


def list_address(current: ChallengeContext, submission: Submission) -> str:
    """Return the URL of a submission's row in the list: the page of the list, with an anchor for the row."""
    own = Submission.objects.filter(team=submission.team_id, phase=submission.phase_id)
    number = own.filter(received_at__gt=submission.received_at).count() // PER_PAGE + 1
    page = f"{'&' if current.phase_query else '?'}page={number}" if number > 1 else ""
    return f"{current.url('submissions')}{page}#s-{submission.pk}"
