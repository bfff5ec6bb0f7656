"""Describes how much each kind of feedback reveals about the ground truth, to help organizers choose one."""

from copy import copy
from dataclasses import dataclass

from server.challenges.feedback_leakage import bits_a_day, bits_of_a_class, feedback_text
from server.challenges.models import Phase

# The estimate of how much rounded scores would reveal assumes 3 decimals, unless the feedback settings of the phase
# specify another number.
DECIMALS = 3


@dataclass(frozen=True, slots=True)
class FeedbackChoice:
    """A kind of feedback that organizers can choose for a phase.

    `sees` describes the scores that teams see. `bits` is an upper bound on the information about the ground truth that
    a team gets per day.
    """

    name: str
    sees: str
    bits: float
    is_chosen: bool


def feedback_choices(phase: Phase) -> list[FeedbackChoice]:
    """Return a table row for each kind of feedback that a phase can have."""
    return [
        FeedbackChoice(str(label), feedback_text(one), bits_a_day(one), is_chosen=value == phase.feedback)
        for value, label in Phase.Feedback.choices
        for one in (with_feedback(phase, value),)
    ]


def with_feedback(phase: Phase, feedback: str) -> Phase:
    """Return an unsaved copy of a phase with the given kind of feedback, such as rounded scores."""
    one = copy(phase)
    one.feedback, one.feedback_classes = feedback, False
    is_rounded = feedback == Phase.Feedback.ROUNDED
    one.feedback_decimals = (phase.feedback_decimals or DECIMALS) if is_rounded else None
    return one


def bits_per_class(phase: Phase) -> float:
    """Return how many bits about the ground truth the results of one class can reveal to a team per day."""
    return phase.quota_per_day * bits_of_a_class(phase)
