"""Formats scores and confidence intervals.

The lower bound of an interval is rounded down and the upper bound up. Wider intervals are shown with fewer decimals. An
interval contains the number that was observed.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

Interval = tuple[float, float]

# Scores that differ by at most this amount are considered equal, because sums of the same numbers in different orders
# differ in their last digits.
ROUNDING = 1e-12
SIGNIFICANT = 2  # Published intervals are rounded so that half their width has about this many significant digits.


def containing(interval: Interval, observed: float) -> Interval:
    """Return an interval, extended to the observed number if it does not contain it.

    A percentile interval can exclude the observed number: a class that few images have is undefined in some bootstrap
    replicates and is then left out of their mean, which moves both ends.

    >>> containing((0.1, 0.2), 0.15), containing((0.1, 0.2), 0.25), containing((0.1, 0.2), -0.05)
    ((0.1, 0.2), (0.1, 0.25), (-0.05, 0.2))
    """
    low, high = interval
    return min(low, observed), max(high, observed)


def sign_of(interval: Interval) -> int:
    """Return 1 if the interval of a difference is above 0, -1 if it is below 0, and 0 if it contains 0.

    Ends that differ from 0 only by rounding count as 0.

    >>> [sign_of(ends) for ends in ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1), (1e-16, 2e-16))]
    [1, -1, 0, 0]
    """
    low, high = interval
    return (low > ROUNDING) - (high < -ROUNDING)


def published(interval: Interval, *, decimals: int | None = None) -> Interval:
    """Return an interval, rounded outward so that readers cannot infer its exact bounds.

    Half the width of the interval, written with two significant digits, determines the number of decimal places, which
    is at most ``decimals``. In the first example, half the width is 0.0030, so there are four decimal places.

    >>> published((0.600124, 0.606131)), published((0.600124, 0.606131), decimals=3)
    ((0.6001, 0.6062), (0.6, 0.607))
    """
    half = _width(interval) / 2
    if half:
        kept = SIGNIFICANT - 1 - half.adjusted()
        decimals = kept if decimals is None else min(kept, decimals)
    low, high = interval if decimals is None else outward(interval, decimals)
    return low + 0.0, high + 0.0  # Adding 0.0 converts -0.0 to 0.0.


def outward(interval: Interval, decimals: int) -> Interval:
    """Return an interval with its lower bound rounded down and its upper bound rounded up.

    >>> outward((0.60019, 0.60611), 4), outward((-0.00019, -0.00001), 4)
    ((0.6001, 0.6062), (-0.0002, 0.0))
    """
    step = Decimal(1).scaleb(-decimals)
    low, high = map(_decimal, interval)
    return float(low.quantize(step, ROUND_FLOOR)) + 0.0, float(high.quantize(step, ROUND_CEILING)) + 0.0


def supported_decimals(interval: Interval) -> int:
    """Return how many decimal places of a score are meaningful, given its interval: floor(−log10(width)).

    If the width is 0, the result is 0. In this case, all bootstrap replicates are equal, so they do not show how much
    the score varies.

    >>> [supported_decimals((0.5 - half, 0.5 + half)) for half in (0.2, 0.05, 0.003, 0.0005, 0.0)]
    [0, 1, 2, 3, 0]
    """
    width = _width(interval)
    if not width:
        return 0
    is_power_of_ten = width == Decimal(1).scaleb(width.adjusted())
    return max(0, -width.adjusted() - (not is_power_of_ten))


def written(value: float, decimals: int, *, sign: bool = False) -> str:
    """Return a number as a string with the given number of decimal places. Zero never has a minus sign.

    If ``sign`` is true, positive numbers have a plus sign.

    >>> written(-0.000001, 5), written(0.25, 2, sign=True), written(-0.000001, 5, sign=True)
    ('0.00000', '+0.25', '+0.00000')
    """
    return f"{value:{'+' if sign else ''}z.{decimals}f}"


def _width(interval: Interval) -> Decimal:
    low, high = map(_decimal, interval)
    return high - low


def _decimal(value: float) -> Decimal:
    """Return the shortest decimal number whose nearest float64 is ``value``. For example, 0.3 becomes exactly 3/10."""
    return Decimal(repr(float(value)))
