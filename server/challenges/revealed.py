"""What the feedback of a phase tells a team about its hidden truth, said to those who set it."""

from math import log2

from server.challenges.models import Phase

EXACT_BITS = 62  # there are 2^62 float64 between 0 and 1

PER_CLASS = (
    "Results per class tell how many objects of each class the public images hold, and let one file ask as many "
    "questions as there are classes: whether a box is right can be tried out class by class."
)


def bits_of_a_number(phase: Phase) -> float:
    """Return how many bits one shown score can carry at most.

    >>> bits_of_a_number(Phase()), round(bits_of_a_number(Phase(feedback_decimals=3)), 1)
    (62, 10.0)
    """
    return EXACT_BITS if phase.feedback_decimals is None else log2(10**phase.feedback_decimals + 1)


def bits_a_day(phase: Phase) -> float:
    """Return a bound for what one team may learn in a day from its public scores alone."""
    return phase.quota_per_day * len(phase.declared_track.metrics) * bits_of_a_number(phase)


def shown(phase: Phase) -> str:
    """Say to teams what they are shown of a score."""
    if phase.feedback == Phase.Feedback.LADDER:
        return (
            "A new score is shown only where it beats your team's best by more than the standard error of the "
            "difference; otherwise you see that best again. This slows down whoever learns the public images by trial "
            "and error; the quota is the real limit."
        )
    if phase.feedback == Phase.Feedback.ROUNDED:
        return f"Scores are rounded to {phase.feedback_decimals} decimals; ranks are by the exact ones."
    return "Scores are shown as they are."


def in_words(phase: Phase) -> str:
    """Say what is revealed, and what would reveal less."""
    numbers = len(phase.declared_track.metrics)
    bound = (
        f"A team learns at most {bits_a_day(phase):,.0f} bits a day: {phase.quota_per_day} submissions × {numbers} "
        f"numbers × {bits_of_a_number(phase):.3g} bits. A smaller quota or fewer decimals reveal less."
    )
    if phase.feedback == Phase.Feedback.LADDER:
        return f"{bound} The ladder shows one bit of a file that does not clearly improve; the quota is the real limit."
    return f"{bound} {PER_CLASS}" if phase.feedback_classes else bound
