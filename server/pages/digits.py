"""The honest score: which digits of a number its interval supports."""

from dataclasses import dataclass, replace

from evaluator.digits import Interval, outward, supported_decimals, written

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Digits:
    """A score as it is printed: digits that hold, digits that do not, and the whole number for whoever wants it."""

    sure: str
    unsure: str
    exact: str


def honest(value: float, interval: Interval | None = None, *, decimals: int | None = None) -> Digits:
    """Split a score's digits where the width of its interval says that they end.

    Parameters: `decimals` is how many exist at all, where the phase rounds. Without an interval nothing is known
    about the digits, and all that are shown count as sure. An interval of no width makes no decimal sure.

    >>> honest(0.60312, (0.60012, 0.60612))
    Digits(sure='0.60', unsure='312', exact='0.60312')
    >>> honest(1.0, (1.0, 1.0))
    Digits(sure='1', unsure='.00000', exact='1.0')
    >>> honest(0.8618052665698489)
    Digits(sure='0.86181', unsure='', exact='0.8618052665698489')
    """
    shown = SHOWN if decimals is None else min(SHOWN, decimals)
    text = written(value, shown)
    supported = None if interval is None else supported_decimals(interval)
    if supported is None or supported >= shown:
        return Digits(text, "", repr(value + 0.0))
    cut = text.index(".") + (1 + supported if supported else 0)
    return Digits(text[:cut], text[cut:], repr(value + 0.0))  # + 0.0 takes the sign from a zero


def signed(shown: Digits) -> Digits:
    """Give a difference its sign, the minus in the width of the plus; what is printed as zero has none.

    >>> signed(honest(-0.25)).sure, signed(honest(0.25)).sure, signed(honest(-0.000001)).sure
    ('−0.25000', '+0.25000', '0.00000')
    """
    if shown.sure.startswith("-"):
        return replace(shown, sure=f"−{shown.sure[1:]}")
    is_zero = not (shown.sure + shown.unsure).strip("0.")
    return shown if is_zero else replace(shown, sure=f"+{shown.sure}")


def ends(interval: Interval, *, decimals: int | None = None) -> str:
    """Print both ends with equally many decimals, rounded outward where they have more than are shown.

    >>> ends((0.6001, 0.606)), ends((-0.0100001, 0.02))
    ('0.6001 to 0.6060', '−0.01001 to 0.02000')
    """
    shown = SHOWN if decimals is None else min(SHOWN, decimals)
    texts = [written(end, shown) for end in outward(interval, shown)]
    zeros = min(len(text) - len(text.rstrip("0")) for text in texts)
    kept = max(1, shown - zeros) - shown  # decimals to leave out, as a negative number
    return " to ".join(text[: kept or None] for text in texts).replace("-", "−")
