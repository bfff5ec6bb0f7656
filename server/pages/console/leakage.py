"""Describes what each kind of feedback reveals, for the page on which organizers choose the feedback."""

from copy import copy
from dataclasses import dataclass

from server.challenges.feedback_leakage import bits_a_day, bits_of_a_class, feedback_text
from server.challenges.models import Phase

DECIMALS = 3  # number of decimals assumed in the table if the phase does not round its scores


@dataclass(frozen=True, slots=True)
class FeedbackChoice:
    """A kind of feedback, what teams see under it, and the maximum number of bits that a team learns per day."""

    name: str
    sees: str
    bits: float
    is_chosen: bool


def feedback_choices(phase: Phase) -> list[FeedbackChoice]:
    """Return a row for each kind of feedback. The numbers of bits depend on the quota of the phase."""
    return [
        FeedbackChoice(str(label), feedback_text(one), bits_a_day(one), is_chosen=value == phase.feedback)
        for value, label in Phase.Feedback.choices
        for one in (with_feedback(phase, value),)
    ]


def with_feedback(phase: Phase, feedback: str) -> Phase:
    """Return a copy of the phase with another kind of feedback. It is not saved."""
    one = copy(phase)
    one.feedback, one.feedback_classes = feedback, False
    is_rounded = feedback == Phase.Feedback.ROUNDED
    one.feedback_decimals = (phase.feedback_decimals or DECIMALS) if is_rounded else None
    return one


def bits_per_class(phase: Phase) -> float:
    """Return the bits that the results of one class reveal per day."""
    return phase.quota_per_day * bits_of_a_class(phase)
