"""One submission: its status followed by itself, then its scores and place, or its defects."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
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
from server.pages import classes, place, statuses
from server.pages.answers import answer
from server.pages.results import Result, result_of
from server.submissions import feedback
from server.submissions.models import QuotaEntry, Status, Submission
from server.submissions.services import lifecycle

ROWS = 25
NO_CONTENT, UNAUTHORIZED = 204, 401


def visible_to(user: Any) -> QuerySet[Submission]:
    return feedback.with_scores(Submission.objects.visible_to(user)).select_related("user", "phase__challenge", "team")


@require_safe
@login_required
def submission(request: PersonRequest, pk: UUID) -> HttpResponse:
    return show(request, get_object_or_404(visible_to(request.user), pk=pk))


def show(request: PersonRequest, one: Submission, refusal: Refused | None = None) -> HttpResponse:
    here = place.at(request, one.phase)
    context = panel_context(request, one, here.now) | {"place": here, "refusal": refusal}
    return answer(request, "submission/page.html", context)


@require_safe
def panel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The part that changes. `seen` is the state the page has announced already."""
    if not request.user.is_authenticated:
        login = f"{reverse('login')}?{urlencode({'next': reverse('submission', args=[pk])})}"
        return HttpResponse(status=UNAUTHORIZED, headers={"HX-Redirect": login})
    one = get_object_or_404(visible_to(request.user), pk=pk)
    seen = request.GET.get("seen", "")
    if one.status in (Status.QUEUED, Status.SCORED) and seen == statuses.state_of(one):
        return HttpResponse(status=NO_CONTENT)
    context = panel_context(request, one, database_now())
    return render(request, "submission/panel.html", context | {"announce": seen != statuses.state_of(one)})


def panel_context(request: HttpRequest, one: Submission, now: datetime) -> dict[str, Any]:
    """Everything that the panel shows of a submission in its present state."""
    context: dict[str, Any] = {
        "submission": one,
        "now": now,
        "state": statuses.state_of(one),
        "notices": one.problems.get("notices", []),
        "given_back": QuotaEntry.objects.filter(submission=one, amount=-1).exists(),
        "may_cancel": not one.is_finished,
    }
    if one.status == Status.SCORED:
        context |= scored_context(request, one, now)
    return context


def scored_context(request: HttpRequest, one: Submission, now: datetime) -> dict[str, Any]:
    """Scores and place, notices, and the classes where the phase's policy shows them."""
    sight = feedback.sight(one.phase, viewer=request.user, now=now)
    evaluation = feedback.current_evaluation(one)
    report = evaluation.report if evaluation else {}
    result = result_of(one, sight)
    return {
        "result": result,
        "standing": queries.standing(one, now=now),
        "notices": report.get("notices", []),
        "classes": class_table(request, one, report, sight, result) if result and sight.classes else None,
    }


def class_table(
    request: HttpRequest, one: Submission, report: Mapping[str, Any], sight: feedback.Sight, result: Result
) -> dict[str, Any] | None:
    """Class by class on one split, 25 rows at a time, and the track's further tables of that split."""
    track = one.phase.declared_track
    if not track.class_columns:
        return None
    rows = feedback.table_rows(report, sight, "classes")
    wish = classes.wish_of(request.GET, columns=[heading.name for heading in track.class_columns])
    split = wish.split if wish.split in result.splits else result.headline_split
    found = classes.select(rows.get(split, []), wish)
    tables = {each.name: feedback.table_rows(report, sight, each.name).get(split) for each in track.tables}
    pages: Page[Any] = Paginator(found, ROWS).get_page(request.GET.get("page"))
    return {
        "wish": wish,
        "splits": classes.choices_of(result.splits, wish, split),
        "pages": pages,
        "columns": classes.columns_of(track, wish),
        "word": track.class_word,
        "tables": [(each, tables[each.name]) for each in track.tables if tables[each.name]],
        "link": f"{reverse('submission', args=[one.pk])}{wish.query()}&",
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
