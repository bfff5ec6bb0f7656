"""A team's submissions of one phase: the table, its history, and the two things that can be changed in it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import F
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from evaluator.digits import Interval
from server.accounts.requests import PersonRequest
from server.challenges.models import Phase
from server.errors import Refused
from server.pages import drawing, place
from server.pages.answers import answer
from server.pages.forms import EditForm
from server.pages.next_step import page
from server.submissions import feedback
from server.submissions.models import Score, Status, Submission
from server.submissions.services import choices, keeping, quota

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class Line:
    """One submission with its headline as this person may see it."""

    submission: Submission
    score: float | None
    interval: Interval | None
    best: bool
    shown: str  # "own", or, with a ladder, "best" where its team's best's stands in, "" where none does yet


@require_safe
@login_required
def submissions(request: PersonRequest, slug: str) -> HttpResponse:
    return show(request, place.find(request, slug))


def show(request: PersonRequest, here: place.Place, refusal: Refused | None = None) -> HttpResponse:
    team, phase = here.own_team(), here.open_phase()
    own = Submission.objects.filter(team=team, phase=phase)
    sight = feedback.sight(phase, viewer=request.user, now=here.now)
    scores = [sight.number(value) for value in headlines(own, phase, sight)]
    known = [score for score in scores if score is not None]
    pages: Page[Any] = Paginator(feedback.with_scores(own), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "place": here,
        "now": here.now,
        "refusal": refusal,
        "pages": pages,
        "page_link": f"{here.query}&" if here.query else "?",
        "lines": [line_of(one, sight, best=max(known, default=None)) for one in pages],
        "history": drawing.history(known),
        "comparable": len(scores) > 1 and not sight.ladder,
        "share": keeping.share_of(team),
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "quota": quota.state(team=team, phase=phase, now=here.now),
        "finals_chosen": own.filter(final=True).count(),
        "decimals": sight.decimals,
    }
    return answer(request, "challenge/submissions.html", context)


def headlines(own: Any, phase: Phase, sight: feedback.Sight) -> list[float | None]:
    """Public headline scores, as far as they are shown, in the order in which the files came."""
    rows = Score.objects.filter(
        split="public",
        metric=phase.declared_track.headline,
        evaluation__signature=phase.signature,
        evaluation__submission__in=own.filter(status=Status.SCORED),
    ).order_by("evaluation__submission__received_at")
    shown = rows.filter(evaluation__published=F("evaluation")) if sight.ladder else rows
    return list(shown.values_list("value", flat=True))


def line_of(submission: Submission, sight: feedback.Sight, *, best: float | None) -> Line:
    headline = submission.phase.declared_track.headline
    score = feedback.scores_in(submission, sight).get("public", {}).get(headline)
    interval = feedback.intervals_in(submission, sight).get("public", {}).get(headline)
    evaluation = feedback.shown_evaluation(submission, sight)
    own = evaluation == feedback.current_evaluation(submission)
    shown = "own" if own else "best" if evaluation else ""
    if submission.status != Status.SCORED:
        shown = ""
    return Line(submission, score, interval, best=own and score is not None and score == best, shown=shown)


@require_POST
@login_required
def edit(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Change the note, or whether it is a final; back to the team's table with it in view."""
    visible = Submission.objects.visible_to(request.user).select_related("phase__challenge", "team")
    submission = get_object_or_404(visible, pk=pk)
    form = EditForm(request.POST)
    here = place.at(request, submission.phase)
    try:
        change(request, submission, form)
    except Refused as refusal:
        return show(request, here, refusal)
    return redirect(f"{page('submissions', here)}#s-{submission.pk}")


def change(request: PersonRequest, submission: Submission, form: EditForm) -> None:
    if not form.is_valid():
        raise Refused("invalid", "A note has at most 500 characters.")
    if "note" in request.POST:
        choices.set_note(submission=submission, by=request.user, note=form.cleaned_data["note"])
    if form.cleaned_data["final"] is not None:
        choices.set_final(submission=submission, by=request.user, final=form.cleaned_data["final"])
