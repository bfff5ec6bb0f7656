"""Estimates for organizers how many bits of information the feedback reveals about the hidden ground truth."""

from math import log2

from server.challenges.models import Phase

EXACT_BITS = 62  # there are 2^62 float64 values between 0 and 1
# The end of an interval is a whole number of steps of 10^-k from the score. The half-width has two digits, so there are
# at most 200 steps.
END_STEPS, STEP_SIZES = 201, 16
TEAMS = 10_000  # number of different ranks
TIES = 3  # tied with a neighbour, not tied, unknown
MAX_COMPARED = 200  # number of a team's newest submissions that may be compared in pairs
CURVE_POINTS, CURVE_BITS = 50, 20  # points of a curve, and bits in each of the three numbers of a point

PER_CLASS = (
    "Results per class reveal how many objects of each class the public images contain. They also let one file test "
    "one guess for each class, for example whether a box is correct."
)


def bits_of_a_number(phase: Phase) -> float:
    """Return an upper bound for the bits in one shown score.

    >>> bits_of_a_number(Phase()), round(bits_of_a_number(Phase(feedback_decimals=3)), 1)
    (62, 10.0)
    """
    return EXACT_BITS if phase.feedback_decimals is None else log2(10**phase.feedback_decimals + 1)


def bits_of_an_interval(phase: Phase) -> float:
    """Return an upper bound for the bits in both ends of a shown interval, given its score.

    >>> round(bits_of_an_interval(Phase()), 1), round(bits_of_an_interval(Phase(feedback_decimals=2)), 1)
    (19.3, 13.3)
    """
    rounded_outward = log2(STEP_SIZES * END_STEPS**2)
    return min(rounded_outward, 2 * bits_of_a_number(phase))


def bits_of_a_rank(phase: Phase) -> float:
    """Return the bits in a rank and the ties above and below it. Under ladder feedback no ties are shown."""
    return log2(TEAMS) + (0.0 if phase.is_ladder else 2 * log2(TIES))


def bits_of_comparisons(phase: Phase) -> float:
    """Return the bits in the score differences between a file and the team's other files; 0 under ladder feedback."""
    files = min(MAX_COMPARED, phase.quota_total or MAX_COMPARED)
    return 0.0 if phase.is_ladder else (files - 1) * bits_of_an_interval(phase)


def bits_of_other_teams(phase: Phase) -> float:
    """Return the bits in the score differences between a team and all other teams; 0 under ladder feedback."""
    return 0.0 if phase.is_ladder else TEAMS * bits_of_an_interval(phase)


def bits_of_a_class(phase: Phase) -> float:
    """Return the bits in the results of one class: its row and the charts of its curves."""
    track = phase.declared_track
    row = (len(track.class_columns) + len(track.explained_columns)) * bits_of_a_number(phase)
    return row + len(track.curves) * CURVE_POINTS * 3 * CURVE_BITS


def bits_a_submission(phase: Phase) -> float:
    """Return an upper bound for the bits that one file reveals: scores with intervals, rank, comparisons."""
    metrics = len(phase.declared_track.metrics) * (bits_of_a_number(phase) + bits_of_an_interval(phase))
    return metrics + bits_of_a_rank(phase) + bits_of_comparisons(phase) + bits_of_other_teams(phase)


def bits_a_day(phase: Phase) -> float:
    """Return an upper bound for the bits that one team learns in a day, without results per class."""
    return phase.quota_per_day * bits_a_submission(phase)


def ladder_margin(phase: Phase) -> str:
    """Return the margin by which a score must beat the team's best to be shown, in words.

    >>> ladder_margin(Phase(ladder_standard_errors=1)), ladder_margin(Phase())
    ('1 standard error', '2 standard errors')
    """
    return f"{phase.ladder_standard_errors:g} standard error{'' if phase.ladder_standard_errors == 1 else 's'}"


def feedback_text(phase: Phase) -> str:
    """Return the text that explains to teams which scores they see, and how exact these are."""
    if phase.is_ladder:
        return (
            f"A new score is shown only if it beats your team's best by more than {ladder_margin(phase)} of the "
            "difference. Otherwise you see the best score again. This slows down teams that learn the public images by "
            "trial and error; the quota is the real limit. It only works if registration is controlled, because every "
            "new account sees the exact score of its first file."
        )
    if phase.feedback == Phase.Feedback.ROUNDED:
        return f"Scores are rounded to {phase.feedback_decimals} decimals; ranks use the exact scores."
    return "Scores are shown exactly."


def leakage_text(phase: Phase) -> str:
    """Return the text for organizers about how much is revealed and how to reveal less."""
    numbers = len(phase.declared_track.metrics)
    sentences = [
        f"A team learns at most {bits_a_day(phase):,.0f} bits a day: {phase.quota_per_day} submissions of "
        f"{bits_a_submission(phase):,.0f} bits.",
        f"In each submission, {numbers} scores have {bits_of_a_number(phase):.3g} bits each, and the ends of their "
        f"intervals {bits_of_an_interval(phase):.3g}. The rank and its ties have {bits_of_a_rank(phase):.3g} bits, the "
        f"differences to the team's other submissions {bits_of_comparisons(phase):,.0f} in total, and those to the "
        f"entries of other teams at most {bits_of_other_teams(phase):,.0f}. Charts show the same numbers.",
        "A smaller quota or fewer decimals reveal less.",
    ]
    if phase.is_ladder:
        sentences.append(
            "The ladder reveals one bit about a file that does not clearly improve; the quota is the real limit. "
            "Every new account sees the exact score of its first file, so control who registers."
        )
    elif phase.feedback_classes:
        sentences.append(
            f"Each class can reveal {bits_of_a_class(phase):,.0f} bits more, including its charts. {PER_CLASS}"
        )
    return " ".join(sentences)
