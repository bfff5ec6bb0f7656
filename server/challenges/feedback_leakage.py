"""Estimates how much information the feedback of a phase reveals about the hidden ground truth, to warn organizers.

Amounts of information are in bits.
"""

from math import log2

from server.challenges.models import Phase

# An exact score reveals 62 bits, because there are about 2^62 float64 values between 0 and 1.
EXACT_BITS = 62
# Both endpoints of a confidence interval are rounded to k decimals, where k is chosen so that half the interval's width
# has two significant digits. Each endpoint is therefore at most 200 steps of 10^-k from the score. `STEP_SIZES` is the
# number of possible values of k.
END_STEPS, STEP_SIZES = 201, 16
# The estimate of what a leaderboard reveals about the ground truth assumes that it has 10,000 teams.
TEAMS = 10_000
# A leaderboard shows one of three results for two adjacent teams: tied, not tied, or not compared.
TIES = 3
# Rank intervals show one of three results for two teams: the first is significantly better, the second is, or neither.
ORDERS = 3
# Simultaneous confidence intervals for ranks are computed only for the first 100 teams of a leaderboard.
FIRST_TEAMS = 100
# A team can compare any two of its newest 200 submissions.
MAX_COMPARED = 200
# The curve of a class in a chart has 50 points. Each point consists of three numbers of 20 bits each.
CURVE_POINTS, CURVE_BITS = 50, 20

PER_CLASS = (
    "Results per class reveal how many objects of each class the public images contain. A single file can also "
    "test one guess for each class, for example whether a box is correct."
)


def bits_of_a_number(phase: Phase) -> float:
    """Return an upper bound on the number of bits revealed by one displayed score.

    By default, a phase shows exact scores.

    >>> bits_of_a_number(Phase()), round(bits_of_a_number(Phase(feedback_decimals=3)), 1)
    (62, 10.0)
    """
    return EXACT_BITS if phase.feedback_decimals is None else log2(10**phase.feedback_decimals + 1)


def bits_of_an_interval(phase: Phase) -> float:
    """Return an upper bound on the number of bits that a confidence interval reveals in addition to the score.

    By default, a phase shows exact scores. The second phase in the example shows 2 decimals.

    >>> round(bits_of_an_interval(Phase()), 1), round(bits_of_an_interval(Phase(feedback_decimals=2)), 1)
    (19.3, 13.3)
    """
    rounded_outward = log2(STEP_SIZES * END_STEPS**2)
    return min(rounded_outward, 2 * bits_of_a_number(phase))


def bits_of_a_rank(phase: Phase) -> float:
    """Return the number of bits revealed by a rank and its tie group.

    A tie group consists of adjacent teams that do not differ significantly. The leaderboard shows whether a team shares
    the tie group of the team above it and, if the team starts a new group, which team is the last in this group. Ladder
    feedback, which hides scores that are not a clear improvement, shows no ties.
    """
    return log2(TEAMS) + (0.0 if phase.is_ladder else log2(TIES) + log2(TEAMS))


def bits_of_rank_intervals(phase: Phase) -> float:
    """Return the number of bits that the rank intervals of all teams reveal about one submitted file.

    It is 0 under ladder feedback, which shows no rank intervals. Otherwise, the intervals show whether each team is
    significantly better or worse than the team that submitted the file. They also depend on the critical value
    (threshold) of the significance test. As this value grows, one pair of teams after another stops being significantly
    different, so the number of different results is at most the number of pairs that are compared.
    """
    return 0.0 if phase.is_ladder else TEAMS * log2(ORDERS) + log2(FIRST_TEAMS * TEAMS)


def bits_of_comparisons(phase: Phase) -> float:
    """Return the number of bits that the score differences between a team's own files reveal.

    It is 0 under ladder feedback, which hides scores that are not a clear improvement.
    """
    files = min(MAX_COMPARED, phase.quota_total or MAX_COMPARED)
    return 0.0 if phase.is_ladder else (files - 1) * bits_of_an_interval(phase)


def bits_of_other_teams(phase: Phase) -> float:
    """Return the number of bits that the score differences between a team and all other teams reveal.

    It is 0 under ladder feedback, which hides scores that are not a clear improvement.
    """
    return 0.0 if phase.is_ladder else TEAMS * bits_of_an_interval(phase)


def bits_of_a_class(phase: Phase) -> float:
    """Return the number of bits revealed by the results of one class, in its table row and its chart curves."""
    track = phase.declared_track
    row = (len(track.class_columns) + len(track.explained_columns)) * bits_of_a_number(phase)
    return row + len(track.curves) * CURVE_POINTS * 3 * CURVE_BITS


def bits_a_submission(phase: Phase) -> float:
    """Return an upper bound on the number of bits revealed by the feedback on one file.

    The feedback consists of scores with intervals, the rank, and comparisons with other files.
    """
    metrics = len(phase.declared_track.metrics) * (bits_of_a_number(phase) + bits_of_an_interval(phase))
    ranks = bits_of_a_rank(phase) + bits_of_rank_intervals(phase)
    return metrics + ranks + bits_of_comparisons(phase) + bits_of_other_teams(phase)


def bits_a_day(phase: Phase) -> float:
    """Return an upper bound on the number of bits revealed to one team per day, excluding results per class."""
    return phase.quota_per_day * bits_a_submission(phase)


def ladder_margin(phase: Phase) -> str:
    """Return the margin of ladder feedback as text. Only scores that beat the team's best by this margin are shown.

    >>> ladder_margin(Phase(ladder_standard_errors=1)), ladder_margin(Phase())
    ('1 standard error', '2 standard errors')
    """
    return f"{phase.ladder_standard_errors:g} standard error{'' if phase.ladder_standard_errors == 1 else 's'}"


def feedback_text(phase: Phase) -> str:
    """Return sentences that explain to teams which scores a phase shows them, and how precise the scores are."""
    if phase.is_ladder:
        return (
            f"A new score is shown only if it exceeds your team's best by more than {ladder_margin(phase)} of the "
            "difference. Otherwise you see your team's best score again. This slows down teams that try to learn "
            "the answers for public images by trial and error; the quota is the real limit. Every new account "
            "sees the exact score of its first file, so registration must be controlled."
        )
    if phase.feedback == Phase.Feedback.ROUNDED:
        return f"Scores are rounded to {phase.feedback_decimals} decimals; ranks use the exact scores."
    return "Scores are shown exactly."


def leakage_text(phase: Phase) -> str:
    """Return sentences that explain to organizers how much a phase's feedback reveals, and how to reveal less."""
    numbers = len(phase.declared_track.metrics)
    sentences = [
        f"A team learns at most {bits_a_day(phase):,.0f} bits per day: {phase.quota_per_day} submissions of "
        f"{bits_a_submission(phase):,.0f} bits each.",
        f"Each submission reveals {numbers} scores of {bits_of_a_number(phase):.3g} bits each, and "
        f"{bits_of_an_interval(phase):.3g} bits for the ends of each interval. The rank and its tie group reveal "
        f"{bits_of_a_rank(phase):.3g} bits, the rank intervals at most {bits_of_rank_intervals(phase):,.0f} bits, the "
        f"differences from the team's other submissions "
        f"{bits_of_comparisons(phase):,.0f} bits in total, and those from the entries of other teams at most "
        f"{bits_of_other_teams(phase):,.0f} bits. Charts reveal nothing more.",
        "A smaller quota or fewer decimals reveal less.",
    ]
    if phase.is_ladder:
        sentences.append(
            "Ladder feedback reveals only one bit about a file that is not a clear improvement; the quota is the real "
            "limit. "
            "Every new account sees the exact score of its first file, so control who registers."
        )
    elif phase.feedback_classes:
        sentences.append(
            f"Each class can reveal {bits_of_a_class(phase):,.0f} bits more, including its charts. {PER_CLASS}"
        )
    return " ".join(sentences)
