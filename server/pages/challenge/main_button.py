"""The main button on a challenge's overview page, which leads to the viewer's next step."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from server.challenges.gate import may_open
from server.clock import is_over
from server.pages.challenge_context import ChallengeContext, JoinState

NO_PHASE = "This challenge has no phase yet. You can submit when the organizers open one."
CANNOT_TAKE_PART = "Organizers and staff can read the private leaderboard, so they cannot take part."
NOT_READY = "This phase is not open yet, because its setup checks have not passed."
WAITING = "Waiting for approval: an organizer has to approve your request to join before you can submit."
DECLINED = "The organizers declined your request to join."
CLOSED = "Registration has closed."
THEN_JOIN = "Then read the rules, accept them and choose a team name."


@dataclass(frozen=True, slots=True)
class MainButton:
    """The main button on a challenge's overview page, and the sentence next to it.

    If the label is empty, the page shows only the sentence.
    """

    label: str
    url: str
    sentence: str


def main_button(current: ChallengeContext, user: Any) -> MainButton:
    """Return the main button that leads the given user to the next step in the challenge."""
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
    """Return the main button for a viewer who has joined the challenge. It depends on whether the phase is open."""
    phase = current.phase
    if phase is None:
        return MainButton("", "", NO_PHASE)
    if not phase.has_opened(current.now):
        return MainButton("Read the data page", current.url("challenge_data"), "Submissions are not open yet.")
    if is_over(current.closing, current.now):
        final = "final " if phase.shows_private(current.now) else ""
        return MainButton(f"See the {final}leaderboard", current.url("leaderboard"), "Submissions are closed.")
    if not may_open(phase):
        return MainButton("Read the data page", current.url("challenge_data"), NOT_READY)
    if phase.is_paused:
        return MainButton("See your submissions", current.url("submissions"), "Submissions are paused.")
    return MainButton("Submit a file", current.url("submit"), f"You are taking part as {current.required_team().name}.")


def join_button(current: ChallengeContext, user: Any) -> MainButton:
    """Return the main button for a viewer who may join the challenge.

    While a phase is open, a viewer can also join by submitting a file, unless organizers have to approve new members.
    """
    phase = current.phase
    takes_files = phase is not None and phase.is_open(current.now) and may_open(phase) and not phase.is_paused
    with_file = current.joins_with_file and takes_files
    address = (
        current.url("submit") if with_file else f"{reverse('challenge_rules', args=[current.challenge.slug])}#join"
    )
    if not user.is_authenticated:
        signup = f"{reverse('account_signup')}?{urlencode({'next': address})}"
        then = "Then submit a file. By submitting, you accept the rules." if with_file else THEN_JOIN
        return MainButton("Sign up to take part", signup, then)
    if current.needs_approval:
        sentence = "Next: read and accept the rules. An organizer then decides on your request."
        return MainButton("Request to join", address, sentence)
    if with_file:
        return MainButton("Submit a file", address, "You accept the rules and choose a team name with your first file.")
    return MainButton("Join this challenge", address, "Next: read the rules, accept them and choose a team name.")
