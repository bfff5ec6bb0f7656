"""The page of the viewer's team, and the forms for changing its members, name and public page."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges.approval import not_a_member
from server.challenges.models import Membership
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.rendering import render_page
from server.pages.team.team_page import member_context, outsider_context
from server.teams.facts import facts_of
from server.teams.rules import Leave, Remove, reasons_against
from server.teams.services import members, profiles
from server.teams.services.changes import present_terms


@require_safe
@login_required
def team(request: PersonRequest, slug: str) -> HttpResponse:
    return show_team(request, slug)


def show_team(request: PersonRequest, slug: str, refusal: Refused | None = None, **shown: str) -> HttpResponse:
    """Show the team page. `shown` contains additional values for the template, such as the link of a new invitation."""
    current = find_context(request, slug)
    if current.membership:
        context = member_context(current, current.membership, page=request.GET.get("page"))
        return render_page(request, "team/team.html", context | shown | {"refusal": refusal})
    if not current.may_be_invited:
        raise not_a_member(request.user, current.challenge, advice="Organizers and staff cannot take part.")
    context = outsider_context(current, request.user)
    return render_page(request, "team/without_team.html", context | {"refusal": refusal})


def changed(request: PersonRequest, slug: str, change: Callable[[ChallengeContext], str]) -> HttpResponse:
    """Make a change to a team, and redirect to the team page, which shows the message that `change` returns.

    If the change is not allowed, show the team page with an error message.
    """
    current = find_context(request, slug)
    try:
        message = change(current)
    except Refused as refusal:
        return show_team(request, slug, refusal)
    messages.success(request, message)
    return redirect(current.url("team"))


@require_POST
@login_required
def rename(request: PersonRequest, slug: str) -> HttpResponse:
    def change(current: ChallengeContext) -> str:
        name = request.POST.get("name", "")
        found = profiles.rename(team=current.required_team(), by=request.user, name=name)
        return f"Your team is now called {found.name}."

    return changed(request, slug, change)


@require_POST
@login_required
def describe(request: PersonRequest, slug: str) -> HttpResponse:
    """Save the description of the team's method for its public page."""
    values = {name: request.POST.get(name, "") for name in ("method", "paper_url", "code_url")}

    def change(current: ChallengeContext) -> str:
        profiles.describe(team=current.required_team(), by=request.user, **values)
        return "The public page of your team was updated."

    return changed(request, slug, change)


@require_POST
@login_required
def show_me(request: PersonRequest, slug: str) -> HttpResponse:
    """Set whether the team's public page shows the user's name."""
    shown = request.POST.get("shown") == "true"

    def change(current: ChallengeContext) -> str:
        members.show(team=current.required_team(), by=request.user, shown=shown)
        return f"The public page of your team {'now' if shown else 'no longer'} shows your name."

    return changed(request, slug, change)


@dataclass(frozen=True, slots=True)
class Question:
    """The text of a page that asks the user to confirm a change to a team.

    `reasons` has one sentence for each rule that forbids the change.
    """

    title: str
    sentences: list[str]
    button: str
    reasons: list[str]


def asked(
    request: PersonRequest, current: ChallengeContext, question: Question, refusal: Refused | None = None
) -> HttpResponse:
    context = {"current": current, "now": current.now, "question": question, "refusal": refusal}
    return render_page(request, "team/confirmation.html", context)


def confirmed(
    request: PersonRequest, current: ChallengeContext, question: Question, change: Callable[[], str]
) -> HttpResponse:
    """Show a page that asks for confirmation. A POST request makes the change and redirects to the team page."""
    if request.method != "POST":
        return asked(request, current, question)
    try:
        message = change()
    except Refused as refusal:
        return asked(request, current, question, refusal)
    messages.success(request, message)
    return redirect(current.url("team"))


@require_http_methods(FORM_METHODS)
@login_required
def leave(request: PersonRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    own, facts = current.required_team(), facts_of(current.required_team())
    is_captain = current.membership is not None and current.membership.is_captain
    if facts.is_bound:
        effect = [
            f"{own} has submitted. If you leave, you can only return to this team, and only if its captain "
            "invites you.",
            f"In this challenge, you cannot join another team or create one. Your submissions remain with {own}.",
        ]
    elif facts.size == 1:
        effect = ["You are its only member and it has not submitted, so the team will be deleted."]
    else:
        effect = [f"{own} has not submitted, so you can join another team afterwards."]
    reasons = list(reasons_against(Leave(facts, is_captain=is_captain), present_terms(current.challenge)))

    def change() -> str:
        members.leave(team=own, by=request.user)
        return f"You left {own}."

    return confirmed(request, current, Question(f"Leave {own}?", effect, "Leave the team", reasons), change)


@require_http_methods(FORM_METHODS)
@login_required
def remove(request: PersonRequest, slug: str, member: int) -> HttpResponse:
    current, found = member_at(request, slug, member)
    own = current.required_team()
    reasons = list(reasons_against(Remove(facts_of(own)), present_terms(current.challenge)))
    effect = [f"{found.user} can join another team afterwards, or return if you invite them."]

    def change() -> str:
        members.remove(team=own, user=found.user, by=request.user)
        return f"{found.user} is no longer in {own}."

    return confirmed(
        request, current, Question(f"Remove {found.user}?", effect, "Remove from the team", reasons), change
    )


@require_http_methods(FORM_METHODS)
@login_required
def hand_over(request: PersonRequest, slug: str, member: int) -> HttpResponse:
    current, found = member_at(request, slug, member)
    effect = [
        f"{found.user} will invite people, decide on requests and merges, and change the name of {found.team}.",
        f"You remain a member. Only {found.user} can make you captain again.",
    ]

    def change() -> str:
        members.hand_over(team=found.team, user=found.user, by=request.user)
        return f"{found.user} is now the captain."

    question = Question(f"Make {found.user} the captain?", effect, "Make captain", [])
    return confirmed(request, current, question, change)


def member_at(request: PersonRequest, slug: str, member: int) -> tuple[ChallengeContext, Membership]:
    """Return the context of a challenge, and a member of the viewer's team other than the viewer.

    Raises Refused if the viewer is not the captain of the team, and Http404 if there is no such member.
    """
    current = find_context(request, slug)
    own = current.required_team()
    if current.membership is None or not current.membership.is_captain:
        raise Refused("forbidden", "Only the captain of the team can do this.")
    found = own.memberships.select_related("user", "team").filter(pk=member).exclude(user=request.user).first()
    if found is None:
        raise Http404("no such member")
    return current, found
