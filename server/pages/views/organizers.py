"""The page that shows the organizers of a challenge. Owners can add and remove organizers and change their roles."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges.models import Organizer, RoleOffer
from server.challenges.organizers import NO_OFFER, NO_ORGANIZER, accept, add, change_role, decline, remove
from server.challenges.roles import MEANINGS, Right, Role
from server.challenges.services import require_two_factor
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context

TWO_FACTOR_REQUIRED = (
    "Organizers of this challenge must use two-factor authentication. Turn it on under Account, Security."
)


@require_http_methods(FORM_METHODS)
@login_required
def organizers(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the organizers of a challenge. Only organizers can see this page.

    A POST request by an owner sets whether organizers need two-factor authentication.
    """
    current = find_context(request, slug)
    if not current.is_organizer and current.challenge.has_organizer(request.user):
        raise Refused("two_factor_required", TWO_FACTOR_REQUIRED)
    if request.method != "POST":
        return show(request, organized_context(request, slug))

    def change(current: ChallengeContext) -> str:
        required = request.POST.get("required") == "yes"
        require_two_factor(challenge=current.challenge, by=request.user, required=required)
        return "The setting was saved."

    return changed(request, slug, change)


@require_POST
@login_required
def add_organizer(request: PersonRequest, slug: str) -> HttpResponse:
    def change(current: ChallengeContext) -> str:
        name, role = request.POST.get("username", ""), request.POST.get("role", "")
        one = add(challenge=current.challenge, by=request.user, username=name, role=role)
        if isinstance(one, RoleOffer):
            outcome = "If they accept, their team will be removed from the leaderboards."
            return f"{one.user} is in a team, so they were offered the role. {outcome}"
        return f"{one.user} now has the role {one.role} in this challenge."

    return changed(request, slug, change)


@require_POST
@login_required
def change_organizer(request: PersonRequest, slug: str, organizer: int) -> HttpResponse:
    def change(current: ChallengeContext) -> str:
        found = organizer_of(current, organizer)
        one = change_role(organizer=found, by=request.user, role=request.POST.get("role", ""))
        return f"{one.user} now has the role {one.role} in this challenge."

    return changed(request, slug, change)


@require_POST
@login_required
def remove_organizer(request: PersonRequest, slug: str, organizer: int) -> HttpResponse:
    def change(current: ChallengeContext) -> str:
        found = organizer_of(current, organizer)
        remove(organizer=found, by=request.user)
        return f"{found.user} is no longer an organizer of this challenge."

    return changed(request, slug, change)


@require_POST
@login_required
def withdraw_offer(request: PersonRequest, slug: str, offer: int) -> HttpResponse:
    def change(current: ChallengeContext) -> str:
        found = RoleOffer.objects.filter(challenge=current.challenge, pk=offer).first()
        if found is None:
            raise Refused("not_found", NO_OFFER)
        return f"The offer to {decline(offer=found, by=request.user).user} was withdrawn."

    return changed(request, slug, change)


@require_http_methods(FORM_METHODS)
@login_required
def role_offer(request: PersonRequest, slug: str) -> HttpResponse:
    """Show a participant an offer to become an organizer. A POST request accepts or declines the offer."""
    current = find_context(request, slug)
    found = RoleOffer.objects.filter(challenge=current.challenge, user=request.user).first()
    if found is None:
        raise Refused("not_found", NO_OFFER)
    if request.method != "POST":
        meaning = MEANINGS[Role(found.role)]
        context = {"current": current, "now": current.now, "offer": found, "meaning": meaning}
        return render_page(request, "challenge/role_offer.html", context)
    if "accept" not in request.POST:
        decline(offer=found, by=request.user)
        messages.success(request, "You declined the role.")
        return redirect("challenge", slug)
    one = accept(offer=found)
    messages.success(
        request, f"You now have the role {one.role} in this challenge. Your team is no longer on the leaderboards."
    )
    return redirect("organize", slug)


def organizer_of(current: ChallengeContext, pk: int) -> Organizer:
    found = Organizer.objects.filter(challenge=current.challenge, pk=pk).first()
    if found is None:
        raise Refused("not_found", NO_ORGANIZER)
    return found


def changed(request: PersonRequest, slug: str, change: Callable[[ChallengeContext], str]) -> HttpResponse:
    """Make a change that only owners may make. Redirect to a page that shows the message that `change` returns.

    If the change is not allowed, show the organizers page with an error message.
    """
    current = organized_context(request, slug, Right.OWN)
    try:
        message = change(current)
    except Refused as refusal:
        return show(request, current, refusal)
    messages.success(request, message)
    still_organizes = current.challenge.is_organized_by(request.user)
    return redirect("organizers", slug) if still_organizes else redirect("challenge", slug)


def show(request: PersonRequest, current: ChallengeContext, refusal: Refused | None = None) -> HttpResponse:
    people = Organizer.objects.filter(challenge=current.challenge).select_related("user").order_by("user__username")
    context = {
        "current": current,
        "now": current.now,
        "refusal": refusal,
        "people": people,
        "offers": RoleOffer.objects.filter(challenge=current.challenge).select_related("user").order_by("offered_at"),
        "roles": [(role, MEANINGS[role]) for role in Role],
        "may_own": current.may_own,
        "form": request.POST,
    }
    return render_page(request, "challenge/organizers.html", context)
