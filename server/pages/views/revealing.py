"""The page where owners reveal the private scores of a phase, or cancel the reveal before it takes effect."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges.models import Phase
from server.challenges.roles import Right
from server.clock import utc_text
from server.errors import Refused
from server.organize.services import revealing
from server.pages.challenge_context import ChallengeContext
from server.pages.rendering import render_page
from server.pages.views.phase_live import organized_phase


@require_http_methods(FORM_METHODS)
@login_required
def reveal(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show whether the private scores of a phase are public. A POST request reveals them or cancels the reveal."""
    right = Right.OWN if request.method == "POST" else None
    current = organized_phase(request, slug, phase, right)
    if request.method != "POST":
        return show(request, current)
    try:
        messages.success(request, done(request, current.required_phase()))
    except Refused as refusal:
        return show(request, current, refusal)
    return redirect("organize_reveal", slug, phase)


def done(request: PersonRequest, phase: Phase) -> str:
    """Reveal the private scores of a phase or cancel the reveal, as the form requests. Return a success message."""
    if "take_back" in request.POST:
        revealing.take_back(phase=phase, by=request.user)
        return "The private scores stay hidden until an owner reveals them."
    found = revealing.reveal(phase=phase, by=request.user, name=request.POST.get("confirm", ""))
    assert found.reveals_at is not None
    shown_from = utc_text(found.reveals_at)
    return (
        f"Everyone will be able to read the private scores from {shown_from} on. Until then, you can cancel the reveal."
    )


def show(request: PersonRequest, current: ChallengeContext, refusal: Refused | None = None) -> HttpResponse:
    phase = current.required_phase()
    context = {
        "current": current,
        "route": "organize_reveal",
        "now": current.now,
        "refusal": refusal,
        "may_own": current.may_own,
        "is_shown": phase.shows_private(current.now),
        "has_ended": phase.has_ended(current.now),
        "is_pending": revealing.is_pending(phase),
    }
    return render_page(request, "console/reveal.html", context)
