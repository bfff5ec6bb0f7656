"""Formats numbers as HTML: scores whose uncertain digits are faint, fractions, differences and counts.

The results contain only numbers and fixed strings, so they need no escaping.
"""

from decimal import ROUND_HALF_UP, Decimal

from evaluator.digits import Interval
from evaluator.report_page.score_digits import ScoreDigits, score_digits, with_sign

REPORT_DECIMALS = 3
UNDEFINED = "Undefined, because there are no objects"
UNDEFINED_CELL = "Undefined, because there are no objects of this kind"


def digits_html(digits: ScoreDigits, interval: Interval | None = None, kind: str = "") -> str:
    """Return the HTML for a score. Digits that the confidence interval makes uncertain are faint."""
    title = f"{digits.exact} (95%: {interval[0]} to {interval[1]})" if interval else digits.exact
    classes = f"honest honest-{kind}" if kind else "honest"
    faint = f"<i>{digits.unsupported}</i>" if digits.unsupported else ""
    return f'<span class="{classes}" title="{title}">{digits.supported}{faint}</span>'


def score_html(
    value: float | None, interval: Interval | None = None, decimals: int | None = None, kind: str = ""
) -> str:
    """Return the HTML for the value of a metric, which is None if it is undefined."""
    if value is None:
        return _undefined("undefined", UNDEFINED)
    return digits_html(score_digits(value, interval, decimals=decimals), interval, kind)


def share_html(value: float, decimals: int | None = None) -> str:
    """Return the HTML for a fraction in a report, with at most three decimals, because its uncertainty is unknown."""
    shown = REPORT_DECIMALS if decimals is None else min(REPORT_DECIMALS, decimals)
    return digits_html(score_digits(value, decimals=shown))


def gain_html(value: float, ends: Interval | None = None, decimals: int | None = None) -> str:
    """Return the HTML for the difference between two scores, with its sign.

    If neither an interval nor a number of decimals is given, the difference has three decimals.
    """
    shown = REPORT_DECIMALS if ends is None and decimals is None else decimals
    return digits_html(with_sign(score_digits(value, ends, decimals=shown)), ends)


def measured_html(value: float | None, kind: str, decimals: int | None = None) -> str:
    """Return the HTML for a number in a report. The kind of the number's column determines the format."""
    if value is None:
        return _undefined("–", UNDEFINED_CELL)
    if kind == "fraction":
        return share_html(value, decimals)
    if kind == "gain":
        return gain_html(value, None, decimals)
    return f'<span title="{value}">{number_text(value)}</span>'


def number_text(value: float) -> str:
    """Return a number with commas between thousands, and with two decimals unless it is a whole number.

    >>> number_text(1234.0), number_text(0.125)
    ('1,234', '0.13')
    """
    exact = Decimal(repr(value))
    step = Decimal(1) if exact == exact.to_integral_value() else Decimal("0.01")
    return f"{exact.quantize(step, ROUND_HALF_UP):,}"


def _undefined(text: str, title: str) -> str:
    return f'<span class="honest-undefined" title="{title}">{text}</span>'
