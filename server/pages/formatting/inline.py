"""Functions that return small components as HTML: numbers, intervals, times, and medals.

A leaderboard has hundreds of these components, and rendering templates would take ten times as long. The components
contain only numbers and dates, which need no escaping. They are created with `SafeString`, because `mark_safe` also
handles lazy strings and is therefore slower.
"""

from datetime import UTC, datetime

from django.utils.safestring import SafeString

from evaluator.digits import Interval
from evaluator.report_page import numbers
from evaluator.report_page.score_digits import ScoreDigits, interval_text
from server.leaderboards.compared import RankInterval
from server.pages.formatting.svg import interval_bar
from server.pages.formatting.units import utc_second

NO_MEDAL = '<svg width="8" height="8" aria-hidden="true"></svg>'
# The arrows `BELOW` and `ABOVE` mark an interval that extends beyond the low or the high end of its axis.
BELOW = '<path class="beyond" d="M7 0 L0 5 L7 10 Z" />'
ABOVE = '<svg class="end" x="100%"><path class="beyond" d="M-7 0 L0 5 L-7 10 Z" /></svg>'
INTERVALS_OF_THE_FIRST = "for the first 100 teams together"
NO_RANK = '<span class="soft">–<span class="reader-only"> no rank</span></span>'


def medal_html(rank: int | None) -> SafeString:
    """Return the HTML for a rank on a leaderboard. The first three ranks have a medal."""
    sign = NO_MEDAL
    if rank in (1, 2, 3):
        circle = '<circle cx="4" cy="4" r="4" />'
        sign = f'<svg class="medal medal-{rank}" width="8" height="8" aria-hidden="true">{circle}</svg>'
    return SafeString(f'<span class="rank-cell">{sign} {rank or NO_RANK}</span>')


def rank_interval_html(found: RankInterval | None) -> SafeString:
    """Return the confidence interval for a team's rank as HTML, or an empty string if there is no interval.

    A star marks an interval that holds for this team alone. The other intervals hold jointly for the first 100 teams.
    """
    if found is None:
        return SafeString()
    words = f"only {found.low}" if found.low == found.high else f"{found.low} to {found.high}"
    shown = "only" if found.low == found.high else f"{found.low:,}–<wbr>{found.high:,}"
    scope = f"for this team alone, {utc_second(found.at)}" if found.individual else INTERVALS_OF_THE_FIRST
    first = ", statistically tied for first" if found.low == 1 else ""
    return SafeString(
        f'<span class="rank-interval" title="95% confidence {scope}"><span aria-hidden="true">'
        f"{shown}{'*' if found.individual else ''}</span>"
        f'<span class="reader-only"> could be {words}{first}{", individual" if found.individual else ""}</span></span>'
    )


def digits_html(digits: ScoreDigits, interval: Interval | None = None, kind: str = "") -> SafeString:
    """Return the HTML for a score. Digits that the confidence interval makes uncertain are dimmed."""
    return SafeString(numbers.digits_html(digits, interval, kind))


def share_html(value: float, decimals: int | None = None) -> SafeString:
    """Return the HTML for a fraction in a report, with at most three decimals."""
    return SafeString(numbers.share_html(value, decimals))


def interval_html(value: float, ends: Interval | None, axis: Interval | None) -> SafeString:
    """Return the HTML for a confidence interval, drawn as a bar on an axis.

    The result is an empty string if there is no interval or no axis.
    """
    if ends is None or axis is None:
        return SafeString()
    bar = interval_bar(value, ends, axis)
    dot = "" if bar.dot is None else f'<circle class="dot" cx="{bar.dot}%" cy="5" r="3" />'
    label = f"95% interval: {interval_text(ends)}{', cut' if bar.is_cut else ''}"
    return SafeString(
        f'<svg class="interval" role="img" aria-label="{label}">'
        f"<title>{value} (95%: {ends[0]} to {ends[1]})</title>"
        '<rect class="ground" width="100%" height="10" rx="5" />'
        f'<rect class="band" x="{bar.left}%" width="{bar.width}%" height="10" rx="5" />'
        f"{dot}{BELOW if bar.below else ''}{ABOVE if bar.above else ''}</svg>"
    )


def time_html(moment: datetime, text: str, style: str = "relative") -> SafeString:
    """Return an HTML `time` element that contains the given text and shows the exact time on hover.

    In the browser, the script `time.js` can replace the text with the time in the given `style`.
    """
    kept = f' data-style="{style}"' if style != "relative" else ""
    exact = moment.astimezone(UTC).isoformat(timespec="seconds")
    return SafeString(f'<time datetime="{exact}" title="{utc_second(moment)}"{kept}>{text}</time>')
