"""What the feedback of a phase tells a team about its hidden truth, said to those who set it."""

from math import log2

from server.challenges.models import Phase

EXACT_BITS = 62  # there are 2^62 float64 between 0 and 1
# An end is a whole number of steps from the score, at most 200 where the half-width has two digits; a step is 10^-k
END_STEPS, STEP_SIZES = 201, 16
TEAMS = 10_000  # a rank is one of so many
TIES = 3  # tied with a neighbour, not tied, not known
COMPARED = 200  # entries of a team that may be compared in pairs, the newest ones
CURVE_POINTS, CURVE_BITS = 50, 20  # of an explanation's curve: its points, and each of a point's three numbers

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


def bits_of_an_interval(phase: Phase) -> float:
    """Return how many bits both ends of a shown interval can carry beside their score.

    >>> round(bits_of_an_interval(Phase()), 1), round(bits_of_an_interval(Phase(feedback_decimals=2)), 1)
    (19.3, 13.3)
    """
    rounded_outward = log2(STEP_SIZES * END_STEPS**2)
    return min(rounded_outward, 2 * bits_of_a_number(phase))


def bits_of_a_rank(phase: Phase) -> float:
    """Return how many bits a rank carries, with the ties above and below it; a ladder shows no ties."""
    return log2(TEAMS) + (0.0 if is_ladder(phase) else 2 * log2(TIES))


def bits_of_comparisons(phase: Phase) -> float:
    """Return how many bits the differences of one file to the team's others carry; with a ladder there are none."""
    entries = min(COMPARED, phase.quota_total or COMPARED)
    return 0.0 if is_ladder(phase) else (entries - 1) * bits_of_an_interval(phase)


def bits_of_a_class(phase: Phase) -> float:
    """Return how many bits the results of one class carry: its row, and the charts of its curves."""
    track = phase.declared_track
    row = (len(track.class_columns) + len(track.explained_columns)) * bits_of_a_number(phase)
    return row + len(track.curves) * CURVE_POINTS * 3 * CURVE_BITS


def bits_a_submission(phase: Phase) -> float:
    """Return a bound for what one file may tell: its numbers with their intervals, its rank, its comparisons."""
    metrics = len(phase.declared_track.metrics) * (bits_of_a_number(phase) + bits_of_an_interval(phase))
    return metrics + bits_of_a_rank(phase) + bits_of_comparisons(phase)


def bits_a_day(phase: Phase) -> float:
    """Return a bound for what one team may learn in a day without results per class."""
    return phase.quota_per_day * bits_a_submission(phase)


def is_ladder(phase: Phase) -> bool:
    return bool(phase.feedback == Phase.Feedback.LADDER)


def ladder_margin(phase: Phase) -> str:
    """Say by how much a score must be better to be shown.

    >>> ladder_margin(Phase(ladder_standard_errors=1)), ladder_margin(Phase())
    ('1 standard error', '2 standard errors')
    """
    return f"{phase.ladder_standard_errors:g} standard error{'' if phase.ladder_standard_errors == 1 else 's'}"


def shown(phase: Phase) -> str:
    """Say to teams what they are shown of a score."""
    if is_ladder(phase):
        return (
            f"A new score is shown only where it beats your team's best by more than {ladder_margin(phase)} of the "
            "difference; otherwise you see that best again. This slows down whoever learns the public images by trial "
            "and error; the quota is the real limit. It presumes that registration is controlled: every new account "
            "sees the exact score of its first file."
        )
    if phase.feedback == Phase.Feedback.ROUNDED:
        return f"Scores are rounded to {phase.feedback_decimals} decimals; ranks are by the exact ones."
    return "Scores are shown as they are."


def in_words(phase: Phase) -> str:
    """Say what is revealed, and what would reveal less."""
    numbers = len(phase.declared_track.metrics)
    said = [
        f"A team learns at most {bits_a_day(phase):,.0f} bits a day: {phase.quota_per_day} submissions of "
        f"{bits_a_submission(phase):,.0f} bits.",
        f"In each, {numbers} numbers carry {bits_of_a_number(phase):.3g} bits and the ends of their intervals "
        f"{bits_of_an_interval(phase):.3g}; the rank and its ties {bits_of_a_rank(phase):.3g}; the differences to the "
        f"team's other entries {bits_of_comparisons(phase):,.0f} in all. Charts of scores draw the same numbers.",
        "A smaller quota or fewer decimals reveal less.",
    ]
    if is_ladder(phase):
        said.append(
            "The ladder shows one bit of a file that does not clearly improve; the quota is the real limit. "
            "Every new account sees its first file exactly, so control who registers."
        )
    elif phase.feedback_classes:
        said.append(f"Each class adds up to {bits_of_a_class(phase):,.0f} bits, its charts included. {PER_CLASS}")
    return " ".join(said)
