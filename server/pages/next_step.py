"""What the button on a challenge's front says, and what comes after it."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from server.challenges.models import Challenge, JoinRequest
from server.pages.place import Place


@dataclass(frozen=True, slots=True)
class Step:
    """A button (none, where there is nothing to do) and the sentence under it."""

    label: str
    url: str
    sentence: str


def next_step(place: Place, user: Any) -> Step:
    """Return the one thing to do next here."""
    if place.membership:
        return member_step(place, place.membership.team.name)
    if place.organizes:
        sentence = "Organizers and staff can read the private leaderboard, so they cannot take part."
        return Step("See the leaderboard", page("leaderboard", place), sentence)
    if place.request:
        return request_step(place, place.request)
    if not place.may_join:
        return Step("See the leaderboard", page("leaderboard", place), "Registration has closed.")
    rules = reverse("challenge_rules", args=[place.challenge.slug]) + "#join"
    if not user.is_authenticated:
        signup = f"{reverse('account_signup')}?{urlencode({'next': rules})}"
        return Step("Sign up to take part", signup, "Then read the rules, accept them and name your team.")
    if place.challenge.registration == Challenge.Registration.APPROVAL:
        return Step(
            "Request to join", rules, "Next: read the rules and accept them. An organizer then decides on your request."
        )
    return Step("Join this challenge", rules, "Next: read the rules, accept them and name your team.")


def request_step(place: Place, request: JoinRequest) -> Step:
    """For those who asked to join a challenge whose organizers approve its members."""
    if request.status == JoinRequest.Status.DECLINED:
        return Step("See the leaderboard", page("leaderboard", place), "The organizers declined your request to join.")
    sentence = "Waiting for approval: an organizer must approve your request to join before you can submit."
    return Step("Read the data page", page("challenge_data", place), sentence)


def member_step(place: Place, team: str) -> Step:
    """For those who are in: submit, wait, or look at the results."""
    phase = place.phase
    if phase is None:
        return Step("", "", "This challenge has no phase yet. You can submit when the organizers open one.")
    if not phase.has_opened(place.now):
        return Step("Read the data page", page("challenge_data", place), "Submissions are not open yet.")
    if phase.has_closed(place.now):
        return Step("See the final leaderboard", page("leaderboard", place), "Submissions are closed.")
    return Step("Submit a file", page("submit", place), f"You take part as {team}.")


def page(name: str, place: Place) -> str:
    """The address of one of the challenge's pages, in the phase looked at."""
    return reverse(name, args=[place.challenge.slug]) + place.query
