"""Template tags that render the components in `templates/components/`, and filters that format values as text."""

from datetime import datetime
from functools import cache
from typing import Any
from uuid import uuid4

from django import template
from django.core.paginator import Page
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from evaluator.digits import Interval
from evaluator.report_page import numbers
from evaluator.report_page.rendering import render
from evaluator.report_page.score_digits import SHOWN, interval_text
from server.clock import is_over
from server.leaderboards.compared import RankInterval
from server.pages.challenge.tabs import tabs_of
from server.pages.challenge_context import ChallengeContext, challenge_url
from server.pages.formatting import units
from server.pages.formatting.inline import interval_html, medal_html, rank_interval_html, time_html
from server.pages.formatting.markdown import render_markdown
from server.pages.leaderboard.rank_changes import arrow
from server.pages.submission.defect_groups import defect_groups
from server.pages.submission.status_messages import time_left
from server.submissions.models import STAGES, Submission
from server.submissions.services.quota import Quota

register = template.Library()
register.filter("size", units.size)
register.filter("markdown", render_markdown)
register.simple_tag(challenge_url)

Context = dict[str, Any]
MOST_SQUARES = 10
# The squares that show the quota start 16 pixels apart, with a gap of 4 pixels between them.
SQUARE_STEP, SQUARE_GAP = 16, 4


@register.simple_tag
@cache
def page_url(route: str) -> str:
    """Return the URL of a page whose URL has no parameters. URLs are cached, because every page contains several."""
    return reverse(route)


def inline(name: str, context: Context) -> SafeString:
    """Render a component template without surrounding white space, so that punctuation can directly follow it."""
    return mark_safe(render_to_string(name, context).strip())


@register.simple_tag
def honest_score(
    value: float | None, interval: Interval | None = None, decimals: int | None = None, kind: str = ""
) -> SafeString:
    """Render a score. Digits that the confidence interval makes uncertain are dimmed."""
    return mark_safe(numbers.score_html(value, interval, decimals, kind))


@register.simple_tag(takes_context=True)
def report_block(context: Context, name: str, **content: Any) -> SafeString:
    """Render a part of a report. The file that `podium score --report` writes uses the same templates."""
    return mark_safe(render(name, decimals=context["result"].decimals, **content))


@register.filter
def rank_arrow(gained: int) -> SafeString:
    """Render a number of ranks gained or, if negative, lost. Render nothing for 0."""
    return mark_safe(arrow(gained))


@register.simple_tag
def share(value: float, decimals: int | None = None) -> SafeString:
    """Render a fraction in a report with at most three decimals, because it has no confidence interval."""
    return mark_safe(numbers.share_html(value, decimals))


@register.simple_tag
def gain(value: float, ends: Interval | None = None, decimals: int | None = None) -> SafeString:
    """Render the difference between two scores with its sign.

    If neither an interval nor a number of decimals is given, the difference has three decimals.
    """
    return mark_safe(numbers.gain_html(value, ends, decimals))


@register.simple_tag
def smallest_gap(decimals: int | None = None) -> str:
    """Render the smallest score difference that is visible with the given number of decimals.

    >>> smallest_gap(), smallest_gap(3)
    ('0.00001', '0.001')
    """
    shown = SHOWN if decimals is None else min(SHOWN, decimals)
    return f"{10.0**-shown:.{shown}f}"


@register.simple_tag
def measured(value: float | None, kind: str, decimals: int | None = None) -> SafeString:
    """Render a number in a report. The format depends on the kind of its column."""
    return mark_safe(numbers.measured_html(value, kind, decimals))


@register.simple_tag
def interval_ends(ends: Interval, decimals: int | None = None) -> str:
    """Return the two endpoints of a confidence interval as text."""
    return interval_text(ends, decimals=decimals)


@register.simple_tag
def interval(value: float, ends: Interval | None, axis: Interval | None) -> SafeString:
    """Render a confidence interval as a bar on an axis. Render nothing if there is no interval."""
    return interval_html(value, ends, axis)


@register.simple_tag(takes_context=True)
def when(context: Context, moment: datetime | None, style: str = "relative") -> SafeString:
    """Render a time, with the exact time on hover.

    The style is `relative` (to the current time), `absolute` (in UTC), or `since`. With `since`, the text is the date,
    so that it can be cached. In the browser, a script replaces the date with a relative time.
    """
    if moment is None:
        return SafeString()
    moment = moment.replace(microsecond=0)
    if style == "relative":
        text = units.relative_time(moment, context.get("now") or timezone.now())
    else:
        text = units.utc_minute(moment) if style == "absolute" else units.date(moment)
    return time_html(moment, text, style)


@register.simple_tag(takes_context=True)
def countdown(context: Context, opens: datetime, closes: datetime | None) -> SafeString:
    """Render the time until submissions to a phase open or close, or the time since they closed."""
    now = context.get("now") or timezone.now()
    return inline("components/countdown.html", {"now": now, **next_change(opens, closes, now)})


def next_change(opens: datetime, closes: datetime | None, now: datetime) -> Context:
    """Return the time at which submissions open or close, and a text such as "Closes in 2 hours"."""
    if opens > now:
        return {"moment": opens, "text": f"Opens in {units.time_span(opens - now)}"}
    if closes is None:
        return {"moment": None, "text": "Open"}
    if is_over(closes, now):
        return {"moment": closes, "text": f"Closed {units.time_span(now - closes)} ago"}
    return {"moment": closes, "text": f"Closes in {units.time_span(closes - now)}"}


@register.simple_tag
def status(submission: Submission) -> SafeString:
    """Render the status of a submission with its icon."""
    return status_html(submission.status)


@cache
def status_html(name: str) -> SafeString:
    return inline("components/status.html", {"status": name})


@register.simple_tag(takes_context=True)
def quota(context: Context, state: Quota) -> SafeString:
    """Render a team's quota for today: how many submissions are left, and when the next one is allowed.

    If the daily quota is small, a row of squares shows the used and the remaining submissions.
    """
    now = context.get("now") or timezone.now()
    in_total = "" if state.total is None else f", {state.total_left} of {state.total} in total"
    next_at = state.next_allowed_at
    squares = [(SQUARE_STEP * index, "used" if index < state.used else "left") for index in range(state.per_day)]
    shown = {
        "quota": state,
        "squares": squares if state.per_day <= MOST_SQUARES else [],
        "width": SQUARE_STEP * state.per_day - SQUARE_GAP,
        "text": f"{state.left} of {state.per_day} left today (UTC){in_total}",
        "wait": units.time_span(next_at - now) if next_at and next_at > now else "",
    }
    return inline("components/quota.html", shown)


@register.simple_tag
def medal(rank: int | None) -> SafeString:
    """Render a rank on a leaderboard. The first three ranks have a medal."""
    return medal_html(rank)


@register.simple_tag
def rank_interval(found: RankInterval | None) -> SafeString:
    """Render the confidence interval for a team's rank."""
    return rank_interval_html(found)


@register.filter
def page_numbers(pages: "Page[Any]") -> list[int | None]:
    """Return the page numbers that a pagination shows, with None in place of skipped numbers.

    The first page, the last page, the current page, and the pages next to it are shown.
    """
    numbers = pages.paginator.get_elided_page_range(pages.number, on_each_side=1, on_ends=1)
    return [number if isinstance(number, int) else None for number in numbers]


@register.inclusion_tag("components/tabs.html", takes_context=True)
def tabs(context: Context, current: ChallengeContext) -> Context:
    """Render the tabs of a challenge's pages, with the tab of the current page marked."""
    match = context["request"].resolver_match
    return {"tabs": tabs_of(current, match.url_name if match else "")}


@register.inclusion_tag("components/signature.html")
def signature(text: str) -> Context:
    """Render the evaluation signature of a score, which describes how the score was computed, with a copy button."""
    return {"signature": text, "parts": text.split("|"), "id": new_id()}


@register.inclusion_tag("components/copy.html")
def copyable(text: str, label: str) -> Context:
    """Render a string with a copy button."""
    return {"text": text, "label": label, "id": new_id()}


@register.inclusion_tag("components/defect_table.html")
def defect_table(problems: dict[str, Any]) -> Context:
    """Render the defects in a rejected file, grouped by the code that identifies the kind of defect."""
    return {"defects": defect_groups(problems)}


@register.inclusion_tag("components/empty_state.html")
def empty_state(sentence: str, label: str = "", url: str = "") -> Context:
    """Render a sentence in place of an empty list, with a button for the next step."""
    return {"sentence": sentence, "label": label, "url": url}


@register.inclusion_tag("components/progress.html", takes_context=True)
def progress(context: Context, submission: Submission) -> Context:
    """Render the progress of a running submission: its current stage, a progress bar and the remaining time."""
    now = context.get("now") or timezone.now()
    return {
        "submission": submission,
        "stages": STAGES,
        "percent": round(100 * submission.progress),
        "left": time_left(submission, now),
    }


def new_id() -> str:
    """Return a new random id for an HTML element."""
    return f"e{uuid4().hex[:8]}"
