"""Invitations to teams and requests to join: the forms on the team page, and the pages for an invitation.

An invitation link contains a secret token. Opening the link stores the token in a cookie and redirects to a URL without
the token. Therefore the token does not leak to other sites or into later log lines, but is still available after a
sign-up.
"""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.rendering import render_page
from server.pages.team.invitation import invitation_context, readable_invitation
from server.pages.views.team import changed, show_team
from server.teams.models import Invitation
from server.teams.services import invitations

COOKIE, COOKIE_SECONDS, TOKEN_CHARACTERS = "invitation", 24 * 3600, 100


@require_POST
@login_required
def invite(request: PersonRequest, slug: str) -> HttpResponse:
    def change(current: ChallengeContext) -> str:
        found = invitations.invite(
            team=current.required_team(), by=request.user, username=request.POST.get("username", "")
        )
        return f"{found.user} was invited."

    return changed(request, slug, change)


@never_cache
@require_POST
@login_required
def create_link(request: PersonRequest, slug: str) -> HttpResponse:
    """Create an invitation by link, and show the link. It cannot be shown again later."""
    current = find_context(request, slug)
    try:
        _, token = invitations.invite_by_link(team=current.required_team(), by=request.user)
    except Refused as refusal:
        return show_team(request, slug, refusal)
    return show_team(request, slug, link=f"{settings.PODIUM_URL.rstrip('/')}{reverse('invitation_link', args=[token])}")


@require_POST
@login_required
def ask(request: PersonRequest, slug: str) -> HttpResponse:
    """Create a request to join the team whose name was entered in the form."""

    def change(current: ChallengeContext) -> str:
        team = current.challenge.teams.filter(name__iexact=request.POST.get("team", "").strip()).first()
        if team is None:
            raise Refused("invalid", "There is no team with this name. Enter it exactly as the leaderboard shows it.")
        invitations.ask(user=request.user, team=team, accept_rules=request.POST.get("accept_rules") == "on")
        return f"You have requested to join {team}. Its captain will accept or decline the request."

    return changed(request, slug, change)


@require_http_methods(FORM_METHODS)
@login_required
def invitation(request: PersonRequest, slug: str, invitation: int) -> HttpResponse:
    """Show an invitation to the invited person, who accepts or declines it.

    The captain uses the same URL to accept or decline a request, or to withdraw an invitation.
    """
    current = find_context(request, slug)
    waiting = Invitation.objects.waiting(current.now).filter(team__challenge=current.challenge)
    found = get_object_or_404(waiting.select_related("team__challenge", "user"), pk=invitation)
    own = current.membership
    if found.user != request.user and not (own and own.is_captain and own.team_id == found.team_id):
        raise Refused("not_found", invitations.UNKNOWN)
    if request.method != "POST":
        if found.kind != Invitation.Kind.PERSON or found.user != request.user:
            return redirect(current.url("team"))
        context = {"current": current, **invitation_context(found, request.user)}
        return render_page(request, "team/invitation.html", context)
    return changed(request, slug, lambda _: decide(request, found))


def decide(request: PersonRequest, found: Invitation) -> str:
    """Accept, decline or withdraw an invitation or a request to join, as the form requests.

    Return a message about the decision.
    """
    if request.POST.get("decision") == "accept":
        accepted = request.POST.get("accept_rules") == "on"
        member = invitations.accept(invitation=found, by=request.user, accept_rules=accepted)
        who = "You are" if member.user == request.user else f"{member.user} is"
        return f"{who} now in {member.team}."
    invitations.close(invitation=found, by=request.user)
    return (
        "The request is no longer open."
        if found.kind == Invitation.Kind.REQUEST
        else "The invitation is no longer open."
    )


@never_cache
@require_safe
def follow_link(request: HttpRequest, token: str) -> HttpResponse:
    """Store the token of an invitation link in a cookie, and redirect to the page of the invitation.

    This view neither looks up nor accepts the invitation.
    """
    response = redirect("invitation")
    if len(token) <= TOKEN_CHARACTERS:
        response.set_cookie(
            COOKIE,
            token,
            max_age=COOKIE_SECONDS,
            path=reverse("invitation"),
            secure=settings.HTTPS,
            httponly=True,
            samesite="Lax",
        )
    return response


@never_cache
@require_http_methods(FORM_METHODS)
def linked_invitation(request: HttpRequest) -> HttpResponse:
    """Show the invitation whose link the viewer has opened. A POST request accepts the invitation."""
    token = request.COOKIES.get(COOKIE, "")
    found = readable_invitation(token, request.user) if token else None
    if found is None:
        return show_invitation(request, {"refusal": Refused("not_found", invitations.UNKNOWN)})
    if request.method != "POST" or not request.user.is_authenticated:
        return show_invitation(request, invitation_context(found, request.user))
    accepted = request.POST.get("accept_rules") == "on"
    try:
        member = invitations.accept_link(token=token, user=request.user, accept_rules=accepted)
    except Refused as refusal:
        return show_invitation(request, invitation_context(found, request.user) | {"refusal": refusal})
    messages.success(request, f"You are now in {member.team}.")
    response = redirect("team", found.team.challenge.slug)
    response.delete_cookie(COOKIE, path=reverse("invitation"))
    return response


def show_invitation(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    return render_page(request, "team/link.html", context)
