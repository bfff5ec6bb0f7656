"""Marks that show how a leaderboard entry has changed: ranks gained or lost, a new team, or a change in score."""

from datetime import datetime
from math import floor, log10

from django.utils.safestring import SafeString

from evaluator.report_page.numbers import REPORT_DECIMALS
from evaluator.report_page.score_digits import SHOWN, interval_text, score_digits, with_sign
from server.leaderboards.queries import BoardRow
from server.pages.formatting.units import date

UP = '<svg class="up" width="9" height="8" aria-hidden="true"><path d="M4.5 0 L9 8 L0 8 Z" /></svg>'
DOWN = '<svg class="down" width="9" height="8" aria-hidden="true"><path d="M4.5 8 L9 0 L0 0 Z" /></svg>'


def change_html(row: BoardRow, since: datetime | None, decimals: int | None) -> SafeString:
    """Return the HTML for the mark that shows how a leaderboard entry has changed.

    It is empty if the entry has not changed, or if there is nothing to compare it with. The HTML needs no escaping.
    """
    if row.public_rank is not None and row.rank is not None:
        title = f"Rank {row.public_rank} on the public leaderboard, {row.rank} on the private leaderboard"
        return mark(arrow(row.public_rank - row.rank), title)
    if row.earlier is None or row.rank is None or since is None:
        return SafeString()
    if row.earlier.rank is None:
        return mark("new", f"No entry before {date(since)}")
    gain = score_gain(row, decimals)
    by_score = "" if not gain else f"; score {'better' if gain[0] == '+' else 'worse'} by {gain[1:]}"
    if row.gain is not None and gain:
        by_score += f" (95% interval of the difference: {interval_text(row.gain.interval, decimals=decimals)})"
    title = f"Rank {row.earlier.rank} on {date(since)}, {row.rank} now{by_score}"
    return mark(arrow(row.earlier.rank - row.rank) or gain, title)


def score_gain(row: BoardRow, decimals: int | None) -> str:
    """Return the change of a team's score as text with its sign and, if known, half the width of its 95% interval.

    The text is empty if there is no earlier score, or if the difference is zero after rounding.

    >>> from types import SimpleNamespace as Row
    >>> earlier, gain = Row(score=0.5), Row(interval=(0.0081, 0.0161))
    >>> score_gain(Row(score=0.5123, earlier=earlier, gain=gain), None)
    '+0.012 ± 0.004'
    """
    if row.earlier is None or row.earlier.score is None:
        return ""
    half = (row.gain.interval[1] - row.gain.interval[0]) / 2 if row.gain else 0.0
    # Half the width of the confidence interval is printed with one significant digit. The score difference is printed
    # with the same number of decimals.
    supported = max(1, -floor(log10(half))) if half else REPORT_DECIMALS
    shown = min(SHOWN, supported) if decimals is None else min(supported, decimals)
    text = with_sign(score_digits(row.score - row.earlier.score, decimals=shown)).supported
    if text[0] not in "+−":
        return ""
    return f"{text} ± {half:.{shown}f}" if half else text


def arrow(gained: int) -> str:
    """Return the HTML that shows a number of ranks gained or, if negative, lost. The HTML is empty for 0."""
    ranks = "rank" if abs(gained) == 1 else "ranks"
    if not gained:
        return ""
    sign, word = (UP, "up") if gained > 0 else (DOWN, "down")
    return f'{sign}{abs(gained)}<span class="reader-only"> {ranks} {word}</span>'


def mark(html: str, title: str) -> SafeString:
    return SafeString(f'<span class="change" title="{title}">{html}</span>' if html else "")
