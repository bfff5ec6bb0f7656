"""The main button of a challenge's overview: the next step for the viewer."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from server.pages.challenge_context import ChallengeContext, JoinState

NO_PHASE = "This challenge has no phase yet. You can submit when the organizers open one."
CANNOT_TAKE_PART = "Organizers and staff can read the private leaderboard, so they cannot take part."
WAITING = "Waiting for approval: an organizer must approve your request to join before you can submit."
DECLINED = "The organizers declined your request to join."
CLOSED = "Registration has closed."


@dataclass(frozen=True, slots=True)
class MainButton:
    """A button and the sentence next to it. Without a label there is only the sentence."""

    label: str
    url: str
    sentence: str


def main_button(current: ChallengeContext, user: Any) -> MainButton:
    """Return the button for this person."""
    leaderboard = current.url("leaderboard")
    match current.join_state:
        case JoinState.MEMBER:
            return member_button(current)
        case JoinState.ORGANIZER:
            return MainButton("See the leaderboard", leaderboard, CANNOT_TAKE_PART)
        case JoinState.WAITING:
            return MainButton("Read the data page", current.url("challenge_data"), WAITING)
        case JoinState.DECLINED:
            return MainButton("See the leaderboard", leaderboard, DECLINED)
        case JoinState.CLOSED:
            return MainButton("See the leaderboard", leaderboard, CLOSED)
        case JoinState.OPEN:
            return join_button(current, user)


def member_button(current: ChallengeContext) -> MainButton:
    """Return the button for members, depending on whether the phase is open."""
    phase = current.phase
    if phase is None:
        return MainButton("", "", NO_PHASE)
    if not phase.has_opened(current.now):
        return MainButton("Read the data page", current.url("challenge_data"), "Submissions are not open yet.")
    if phase.has_closed(current.now):
        return MainButton("See the final leaderboard", current.url("leaderboard"), "Submissions are closed.")
    return MainButton("Submit a file", current.url("submit"), f"You take part as {current.required_team().name}.")


def join_button(current: ChallengeContext, user: Any) -> MainButton:
    """Return the button for people who may join."""
    rules = reverse("challenge_rules", args=[current.challenge.slug]) + "#join"
    if not user.is_authenticated:
        signup = f"{reverse('account_signup')}?{urlencode({'next': rules})}"
        return MainButton("Sign up to take part", signup, "Then read the rules, accept them and name your team.")
    if current.needs_approval:
        sentence = "Next: read the rules and accept them. An organizer then decides on your request."
        return MainButton("Request to join", rules, sentence)
    return MainButton("Join this challenge", rules, "Next: read the rules, accept them and name your team.")
