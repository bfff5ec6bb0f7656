"""The page that shows the organizers of a challenge, and whether they need two-factor authentication."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges.services import require_two_factor
from server.errors import Refused
from server.pages.challenge_context import find_context
from server.pages.rendering import render_page

TWO_FACTOR_REQUIRED = "Organizers of this challenge need two-factor authentication. Turn it on under Account, Security."


@require_http_methods(FORM_METHODS)
@login_required
def organizers(request: PersonRequest, slug: str) -> HttpResponse:
    """Show all organizers to any of them, and turn the requirement of two-factor authentication on or off."""
    current = find_context(request, slug)
    if not current.is_organizer:
        if current.challenge.has_organizer(request.user):
            raise Refused("two_factor_required", TWO_FACTOR_REQUIRED)
        raise Refused("forbidden", "Only organizers of the challenge can see this page.")
    context = {"current": current, "now": current.now, "people": current.challenge.organizers.order_by("username")}
    if request.method != "POST":
        return render_page(request, "challenge/organizers.html", context)
    try:
        required = request.POST.get("required") == "yes"
        require_two_factor(challenge=current.challenge, by=request.user, required=required)
    except Refused as refusal:
        return render_page(request, "challenge/organizers.html", {**context, "refusal": refusal})
    messages.success(request, "The setting was saved.")
    return redirect("organizers", slug)
