"""The organizers' page with all submissions to a phase: a table, a CSV file, and actions on submissions."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from server.accounts.models import User
from server.accounts.requests import PersonRequest
from server.errors import Refused
from server.organize.services import requeueing, submission_table
from server.organize.services.submission_table import SORTS, submission_filter
from server.pages.challenge_context import ChallengeContext
from server.pages.console.rows import csv_chunks, table_row
from server.pages.rendering import render_page
from server.pages.submission.listing import ANY_KEY
from server.pages.views.phase_live import organized_phase
from server.submissions.models import Fault, Status, Submission
from server.submissions.services import hiding, recovery

PER_PAGE = 25
FAULTS = [(value, label) for value, label in Fault.choices if value]
HEADINGS = {
    "received": "Received",
    "team": "Team",
    "user": "User",
    "file": "File",
    "status": "Status",
    "score": "Public score",
}


@require_safe
@login_required
def table(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    return show(request, organized_phase(request, slug, phase))


def show(request: PersonRequest, current: ChallengeContext, refusal: Refused | None = None) -> HttpResponse:
    phase, chosen, access = current.required_phase(), submission_filter(request.GET), current.score_access
    count = chosen.submissions(phase).count()
    pages: Page[Any] = Paginator(range(count), PER_PAGE).get_page(request.GET.get("page"))
    keys = list(chosen.keys(phase)[max(0, pages.start_index() - 1) : pages.end_index()])
    query = chosen.query()
    context = {
        "current": current,
        "route": "organize_submissions",
        "now": current.now,
        "refusal": refusal,
        "filter": chosen,
        "query": query,
        # The page can be the response to an action at another URL, so its links contain the URL of the table.
        "table_url": address(current, ""),
        "page_query": f"?{query}&" if query else "?",
        "headings": [heading(name, title, chosen) for name, title in HEADINGS.items()],
        "statuses": Status.values,
        "faults": FAULTS,
        "pages": pages,
        "team_page": address_with("organize_team", current, 0)[:-1],
        "requeue_page": address_with("organize_requeue", current, ANY_KEY).partition(str(ANY_KEY))[0],
        "rows": [table_row(one, access) for one in submission_table.read(phase, keys)],
        "failed": requeueing.failed(phase, chosen).count(),
        "metric": phase.declared_track.metrics[0].title,
        "decimals": access.decimals,
    }
    return render_page(request, "console/submissions.html", context)


def heading(name: str, title: str, chosen: submission_table.SubmissionFilter) -> tuple[str, str, str]:
    """Return the heading of a table column: its title, the query string that sorts by it, and its `aria-sort` value.

    The `aria-sort` value is empty if the table is sorted by another column.
    """
    assert name in SORTS
    is_descending = chosen.sort == f"-{name}"
    order = "descending" if is_descending else "ascending" if chosen.sort == name else ""
    return title, chosen.query(sort=name if is_descending else f"-{name}"), order


@require_safe
@login_required
def table_csv(request: PersonRequest, slug: str, phase: str) -> StreamingHttpResponse:
    """Serve a CSV file with all submissions to a phase that match the filter in the query string."""
    current = organized_phase(request, slug, phase)
    access, chosen, found = current.score_access, submission_filter(request.GET), current.required_phase()
    rows = ([table_row(one, access) for one in chunk] for chunk in submission_table.chunks(found, chosen))
    name = found.download_name("submissions.csv")
    return StreamingHttpResponse(
        csv_chunks(rows),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "private, no-store",
        },
    )


@require_POST
@login_required
def requeue_failed(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Requeue failed submissions to a phase that match the filter in the URL's query string.

    At most `requeueing.MOST_AT_ONCE` submissions are requeued.
    """
    current, chosen = organized_phase(request, slug, phase), submission_filter(request.GET)
    done = requeueing.requeue_failed(phase=current.required_phase(), chosen=chosen, by=request.user)
    return report(request, current, done, "failed submissions", chosen.query())


@require_POST
@login_required
def requeue_intervals(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Queue reruns of submissions that match the filter in the URL's query string and lack a confidence interval.

    At most `requeueing.MOST_AT_ONCE` reruns are queued.
    """
    current, chosen = organized_phase(request, slug, phase), submission_filter(request.GET)
    done = requeueing.requeue_intervals(phase=current.required_phase(), chosen=chosen, by=request.user)
    return report(request, current, done, "scores without an interval", chosen.query())


def report(
    request: PersonRequest, current: ChallengeContext, done: requeueing.Requeued, kind: str, query: str
) -> HttpResponse:
    """Redirect to the table of submissions, with a message about the submissions that were queued again."""
    messages.success(request, done.sentence(kind))
    for refusal in done.refusals:
        messages.warning(request, refusal)
    return redirect(address(current, query))


@require_POST
@login_required
def requeue(request: PersonRequest, slug: str, phase: str, pk: UUID) -> HttpResponse:
    """Requeue a failed submission. A scored submission is scored again, to compute its missing confidence interval."""
    current = organized_phase(request, slug, phase)
    submission = submission_of(current, pk)
    try:
        queue_again(submission, request.user)
    except Refused as refusal:
        return show(request, current, refusal)
    messages.success(request, f"{submission.file_name} from {submission.team.name} was queued again.")
    return redirect(address(current, submission_filter(request.GET).query()))


@require_POST
@login_required
def hide(request: PersonRequest, slug: str, phase: str, pk: UUID) -> HttpResponse:
    """Hide a submission from the leaderboards or show it again, as the form requests."""
    current = organized_phase(request, slug, phase)
    submission, is_undone = submission_of(current, pk), request.POST.get("act") == "unhide"
    try:
        (hiding.unhide if is_undone else hiding.hide)(submission=submission, by=request.user)
    except Refused as refusal:
        return show(request, current, refusal)
    said = "counts for the leaderboards again" if is_undone else "is hidden from the leaderboards"
    messages.success(request, f"{submission.file_name} of {submission.team.name} {said}.")
    return redirect(address(current, submission_filter(request.GET).query()))


def submission_of(current: ChallengeContext, pk: UUID) -> Submission:
    """Return a submission to the current page's phase. Raises Http404 if the phase has no such submission."""
    found = Submission.objects.select_related("phase__challenge", "team").filter(phase=current.required_phase())
    return get_object_or_404(found, pk=pk)


def queue_again(submission: Submission, by: User) -> None:
    """Requeue a failed submission, or a scored one to compute its missing confidence interval.

    Raises Refused if the submission has any other status.
    """
    if submission.status == Status.FAILED:
        recovery.requeue(submission=submission, by=by)
    elif submission.status == Status.SCORED:
        recovery.requeue_interval(submission=submission, by=by)
    else:
        detail = f"This submission is {submission.status}. Only failed and scored submissions can be queued again."
        raise Refused("invalid", detail)


def address_with(name: str, current: ChallengeContext, key: UUID | int) -> str:
    """Return the URL of an organizer page about the team or submission with the given primary key."""
    return reverse(name, args=[current.challenge.slug, current.required_phase().slug, key])


def address(current: ChallengeContext, query: str) -> str:
    """Return the URL of the organizers' table of submissions with the given query string."""
    path = reverse("organize_submissions", args=[current.challenge.slug, current.required_phase().slug])
    return f"{path}?{query}" if query else path
