"""The honest score: which digits of a number its interval supports."""

from dataclasses import dataclass, replace
from math import ceil, log10

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Digits:
    """A score as it is printed: digits that hold, digits that do not, and the whole number for whoever wants it."""

    sure: str
    unsure: str
    exact: str


def honest(value: float, interval: tuple[float, float] | None = None, *, decimals: int | None = None) -> Digits:
    """Split a score's decimals where half the interval's width says they end.

    Parameters: `decimals` is how many exist at all, where the phase rounds. Without an interval nothing is known
    about the digits, and all that are shown count as sure.

    >>> honest(0.60312, (0.60012, 0.60612))
    Digits(sure='0.603', unsure='12', exact='0.60312')
    >>> honest(0.8618052665698489)
    Digits(sure='0.86181', unsure='', exact='0.8618052665698489')
    """
    shown = SHOWN if decimals is None else min(SHOWN, decimals)
    text = f"{value:.{shown}f}"
    if interval is None:
        return Digits(text, "", repr(value))
    supported = supported_of(interval, shown)
    cut = len(text) - (shown - supported)
    return Digits(text[:cut], text[cut:], repr(value))


def signed(shown: Digits) -> Digits:
    """Give a difference its sign, the minus in the width of the plus.

    >>> signed(honest(-0.25)).sure, signed(honest(0.25)).sure, signed(honest(0.0)).sure
    ('−0.25000', '+0.25000', '0.00000')
    """
    if shown.sure.startswith("-"):
        return replace(shown, sure=f"−{shown.sure[1:]}")
    return shown if float(shown.exact) == 0 else replace(shown, sure=f"+{shown.sure}")


def ends(interval: tuple[float, float], *, decimals: int | None = None) -> str:
    """Print both ends with the decimals that the interval itself supports.

    >>> ends((0.60012, 0.60612))
    '0.600 to 0.606'
    """
    supported = supported_of(interval, SHOWN if decimals is None else min(SHOWN, decimals))
    return " to ".join(f"{end:.{supported}f}" for end in interval).replace("-", "−")


def supported_of(interval: tuple[float, float], shown: int) -> int:
    return min(shown, supported_decimals((interval[1] - interval[0]) / 2))


def supported_decimals(half_width: float) -> int:
    """Return how many decimals an uncertainty of ± `half_width` leaves standing, at least one.

    >>> [supported_decimals(half) for half in (0.2, 0.01, 0.003, 0.0005)]
    [1, 2, 3, 4]
    """
    return SHOWN if half_width <= 0 else max(1, ceil(-log10(half_width)))
