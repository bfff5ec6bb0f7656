"""Splits the digits of a score into certain digits and digits that its confidence interval makes uncertain."""

from dataclasses import dataclass, replace

from evaluator.digits import Interval, outward, supported_decimals, written

SHOWN = 5


@dataclass(frozen=True, slots=True)
class ScoreDigits:
    """The digits of a score: those that its confidence interval supports, and all later ones.

    `exact` is the score with all its digits.
    """

    supported: str
    unsupported: str
    exact: str


def score_digits(value: float, interval: Interval | None = None, *, decimals: int | None = None) -> ScoreDigits:
    """Return the digits of a score, split into those that its confidence interval supports and all later ones.

    `decimals` is the number of decimals that the phase shows; the default is 5. Without an interval, all shown digits
    count as supported. An interval of zero width supports no decimals.

    >>> score_digits(0.60312, (0.60012, 0.60612))
    ScoreDigits(supported='0.60', unsupported='312', exact='0.60312')
    >>> score_digits(1.0, (1.0, 1.0))
    ScoreDigits(supported='1', unsupported='.00000', exact='1.0')
    >>> score_digits(0.8618052665698489)
    ScoreDigits(supported='0.86181', unsupported='', exact='0.8618052665698489')
    """
    shown = SHOWN if decimals is None else min(SHOWN, decimals)
    text = written(value, shown)
    # Adding 0.0 turns a negative zero into a positive one, which is written without a sign.
    exact = repr(value + 0.0)
    supported = None if interval is None else supported_decimals(interval)
    if supported is None or supported >= shown:
        return ScoreDigits(text, "", exact)
    end = text.index(".") + (1 + supported if supported else 0)
    return ScoreDigits(text[:end], text[end:], exact)


def with_sign(digits: ScoreDigits) -> ScoreDigits:
    """Return the digits of a difference with its sign. The minus sign is U+2212, as wide as "+". Zero has no sign.

    >>> [with_sign(score_digits(value)).supported for value in (-0.25, 0.25, -0.000001)]
    ['−0.25000', '+0.25000', '0.00000']
    """
    if digits.supported.startswith("-"):
        return replace(digits, supported=f"−{digits.supported[1:]}")
    is_zero = not (digits.supported + digits.unsupported).strip("0.")
    return digits if is_zero else replace(digits, supported=f"+{digits.supported}")


def interval_text(interval: Interval, *, decimals: int | None = None) -> str:
    """Return both endpoints of an interval as text, with the same number of decimals.

    The lower endpoint is rounded down and the upper one up.

    >>> interval_text((0.6001, 0.606)), interval_text((-0.0100001, 0.02))
    ('0.6001 to 0.6060', '−0.01001 to 0.02000')
    """
    shown = SHOWN if decimals is None else min(SHOWN, decimals)
    texts = [written(end, shown) for end in outward(interval, shown)]
    zeros = min(len(text) - len(text.rstrip("0")) for text in texts)
    # Trailing zeros that both ends of the interval have in common are removed, except in the first decimal. `kept` is
    # the negative index of the first removed zero, or 0 if none is removed.
    kept = max(1, shown - zeros) - shown
    return " to ".join(text[: kept or None] for text in texts).replace("-", "−")
