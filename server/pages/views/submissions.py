"""The list of a team's submissions, and the form that changes a note or chooses a final submission."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from evaluator.digits import Interval
from server.accounts.requests import PersonRequest
from server.challenges.models import Phase
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, context_of_phase, find_context
from server.pages.formatting.svg import score_history
from server.pages.forms import EditForm
from server.pages.rendering import render_page
from server.submissions import feedback
from server.submissions.models import Score, Status, Submission
from server.submissions.services import choices, quota, retention

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ListedSubmission:
    """A submission with its headline score as the viewer may see it.

    With a ladder, `has_score` is false until the submission is published, and `is_of_best` is true if the score of
    the team's best submission is shown instead of its own.
    """

    submission: Submission
    is_scored: bool
    has_score: bool
    score: float | None
    interval: Interval | None
    is_best: bool
    is_of_best: bool
    compare_url: str


@require_safe
@login_required
def submissions(request: PersonRequest, slug: str) -> HttpResponse:
    return show(request, find_context(request, slug))


def show(request: PersonRequest, current: ChallengeContext, refusal: Refused | None = None) -> HttpResponse:
    team, phase = current.required_team(), current.required_phase()
    own = Submission.objects.filter(team=team, phase=phase)
    access = feedback.score_access(phase, viewer=request.user, now=current.now)
    scores = [access.number(value) for value in headline_scores(own, phase, access)]
    known = [score for score in scores if score is not None]
    pages: Page[Any] = Paginator(feedback.with_scores(own), PER_PAGE).get_page(request.GET.get("page"))
    compare_url = reverse("compare", args=[current.challenge.slug]) if len(scores) > 1 and not access.ladder else ""
    context = {
        "current": current,
        "now": current.now,
        "refusal": refusal,
        "pages": pages,
        "listed": [listed(one, access, best=max(known, default=None), compare_url=compare_url) for one in pages],
        "history": score_history(known),
        "share": retention.storage_use(team),
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "quota": quota.state(team=team, phase=phase, now=current.now),
        "finals_chosen": own.filter(final=True).count(),
        "default_finals": default_finals(phase),
        "decimals": access.decimals,
    }
    return render_page(request, "submissions/submissions.html", context)


def headline_scores(own: Any, phase: Phase, access: feedback.ScoreAccess) -> list[float | None]:
    """Return the public headline scores that the viewer may see, in the order of submission."""
    rows = Score.objects.filter(
        split="public",
        metric=phase.declared_track.headline,
        evaluation__signature=phase.signature,
        evaluation__submission__in=own.filter(status=Status.SCORED),
    ).order_by("evaluation__submission__received_at")
    shown = rows.visible(ladders=[phase] if access.ladder else [])
    return list(shown.values_list("value", flat=True))


def listed(
    submission: Submission, access: feedback.ScoreAccess, *, best: float | None, compare_url: str
) -> ListedSubmission:
    headline = submission.phase.declared_track.headline
    score = feedback.scores_in(submission, access).get("public", {}).get(headline)
    interval = feedback.intervals_in(submission, access).get("public", {}).get(headline)
    shown = feedback.shown_evaluation(submission, access)
    is_own = shown == feedback.current_evaluation(submission)
    is_scored = submission.status == Status.SCORED
    compare = f"{compare_url}?{urlencode({'phase': submission.phase.slug, 'a': str(submission.pk)})}"
    return ListedSubmission(
        submission=submission,
        is_scored=is_scored,
        has_score=is_scored and (is_own or shown is not None),
        score=score,
        interval=interval,
        is_best=is_own and score is not None and score == best,
        is_of_best=is_scored and not is_own and shown is not None,
        compare_url=compare if is_scored and compare_url else "",
    )


def default_finals(phase: Phase) -> str:
    """Return which submissions count if the team chooses no final ones, as the end of a sentence."""
    return "best public score counts" if phase.finals == 1 else f"{phase.finals} best public scores count"


@require_POST
@login_required
def edit(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Change the note of a submission, or whether it is final, and return to the list."""
    visible = Submission.objects.visible_to(request.user).select_related("phase__challenge", "team")
    submission = get_object_or_404(visible, pk=pk)
    form = EditForm(request.POST)
    current = context_of_phase(request, submission.phase)
    try:
        change(request, submission, form)
    except Refused as refusal:
        return show(request, current, refusal)
    return redirect(f"{current.url('submissions')}#s-{submission.pk}")


def change(request: PersonRequest, submission: Submission, form: EditForm) -> None:
    if not form.is_valid():
        raise Refused("invalid", "A note has at most 500 characters.")
    if "note" in request.POST:
        choices.set_note(submission=submission, by=request.user, note=form.cleaned_data["note"])
    if form.cleaned_data["final"] is not None:
        choices.set_final(submission=submission, by=request.user, final=form.cleaned_data["final"])
