"""Component templates with the little arithmetic that each needs. What they look like is in templates/components/."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from evaluator.digits import Interval
from server.clock import is_over
from server.pages import defects, digits, drawing, statuses, times
from server.pages.place import Place
from server.pages.tabs import tabs_of
from server.submissions.models import STAGES, Submission
from server.submissions.services.quota import Quota

register = template.Library()
Context = dict[str, Any]
SQUARES = 10
DECIMALS = 3  # of what explains a score


def inline(name: str, context: Context) -> SafeString:
    """Render a component without the white space around it, so that a comma or a full stop can follow it."""
    return mark_safe(render_to_string(name, context).strip())


@register.simple_tag
def honest_score(
    value: float | None, interval: Interval | None = None, decimals: int | None = None, kind: str = ""
) -> SafeString:
    """A score whose digits beyond its interval are faint."""
    shown = None if value is None else digits.honest(value, interval, decimals=decimals)
    return printed(shown, interval, kind)


@register.simple_tag
def share(value: float, decimals: int | None = None) -> SafeString:
    """A fraction that explains: three digits tell enough, and no interval says that more would hold."""
    return printed(digits.honest(value, decimals=min(DECIMALS, DECIMALS if decimals is None else decimals)))


@register.simple_tag
def gain(value: float, ends: Interval | None = None, decimals: int | None = None) -> SafeString:
    """A difference of two scores, with its sign; of three digits where no interval says how many hold."""
    shown = DECIMALS if ends is None and decimals is None else decimals
    return printed(digits.signed(digits.honest(value, ends, decimals=shown)), ends)


def printed(shown: digits.Digits | None, interval: Interval | None = None, kind: str = "") -> SafeString:
    """Print digits: those that do not hold are faint, and the whole number is on hover."""
    if shown is None:
        return inline("components/undefined.html", {})
    context = {
        "sure": shown.sure,
        "unsure": shown.unsure,
        "classes": f"honest honest-{kind}" if kind else "honest",
        "title": f"{shown.exact} (95%: {interval[0]} to {interval[1]})" if interval else shown.exact,
    }
    return inline("components/honest_score.html", context)


@register.simple_tag
def measured(value: float | None, kind: str, decimals: int | None = None) -> SafeString:
    """A number of a report, as its column's kind wants it printed."""
    return inline("components/measured.html", {"value": value, "kind": kind, "decimals": decimals})


@register.simple_tag
def interval_ends(ends: Interval, decimals: int | None = None) -> str:
    """An interval in words."""
    return digits.ends(ends, decimals=decimals)


@register.simple_tag
def interval(value: float, ends: Interval | None, within: Interval | None) -> SafeString:
    """A band on a track, where there is an interval."""
    band = drawing.band(value, ends, within) if ends and within else None
    if ends is None or band is None:
        return SafeString()
    return inline("components/interval.html", {"ends": ends, "words": digits.ends(ends), "value": value, "band": band})


@register.simple_tag(takes_context=True)
def when(context: Context, moment: datetime | None, style: str = "relative") -> SafeString:
    """A moment: relative words or UTC, to the second on hover."""
    if moment is None:
        return SafeString()
    moment = moment.replace(microsecond=0)
    now = context.get("now") or timezone.now()
    words = times.relative(moment, now) if style == "relative" else times.absolute(moment)
    shown = {"moment": moment, "style": style, "words": words, "exact": times.exact(moment)}
    return inline("components/time.html", shown)


@register.simple_tag(takes_context=True)
def countdown(context: Context, opens: datetime, closes: datetime | None) -> SafeString:
    """What is next: opening, closing, or how long ago it closed."""
    now = context.get("now") or timezone.now()
    return inline("components/countdown.html", {"now": now, **next_moment(opens, closes, now)})


def next_moment(opens: datetime, closes: datetime | None, now: datetime) -> Context:
    """Return the next moment and how far it is, in words; the last one where nothing follows."""
    if opens > now:
        return {"moment": opens, "words": f"Opens in {times.span(opens - now)}"}
    if closes is None:
        return {"moment": None, "words": "Open"}
    if is_over(closes, now):
        return {"moment": closes, "words": f"Closed {times.span(now - closes)} ago"}
    return {"moment": closes, "words": f"Closes in {times.span(closes - now)}"}


@register.simple_tag
def status(submission: Submission) -> SafeString:
    """The state's word and shape."""
    return inline("components/status.html", {"status": submission.status})


@register.simple_tag(takes_context=True)
def quota(context: Context, state: Quota) -> SafeString:
    """Squares for what is used and left today, and when the next one comes."""
    now = context.get("now") or timezone.now()
    squares = [(16 * place, "used" if place < state.used else "left") for place in range(state.per_day)]
    in_all = "" if state.total is None else f", {state.total_left} of {state.total} in total"
    shown = {
        "quota": state,
        "squares": squares if state.per_day <= SQUARES else [],
        "width": 16 * state.per_day - 4,
        "words": f"{state.left} of {state.per_day} left today (UTC){in_all}",
        "gap": times.span(state.next_allowed_at - now) if state.next_allowed_at and state.next_allowed_at > now else "",
    }
    return inline("components/quota.html", shown)


@register.simple_tag
def medal(rank: int | None) -> SafeString:
    """A rank, with a dot for the first three."""
    return inline("components/medal.html", {"rank": rank})


@register.inclusion_tag("components/tabs.html", takes_context=True)
def tabs(context: Context, place: Place) -> Context:
    """The pages of a challenge, the present one marked."""
    match = context["request"].resolver_match
    return {"tabs": tabs_of(place, match.url_name if match else "")}


@register.inclusion_tag("components/signature.html")
def signature(text: str) -> Context:
    """How the scores were made, to copy."""
    return {"signature": text, "parts": text.split("|"), "id": new_id()}


@register.inclusion_tag("components/copy.html")
def copyable(text: str, label: str) -> Context:
    """A block of text with a copy button."""
    return {"text": text, "label": label, "id": new_id()}


@register.inclusion_tag("components/defect_table.html")
def defect_table(problems: dict[str, Any]) -> Context:
    """All defects of a rejected file, by code."""
    return {"defects": defects.grouped(problems), "total": problems.get("total", 0)}


@register.inclusion_tag("components/empty_state.html")
def empty_state(sentence: str, label: str = "", url: str = "") -> Context:
    """One sentence and the one thing to do."""
    return {"sentence": sentence, "label": label, "url": url}


@register.inclusion_tag("components/progress.html", takes_context=True)
def progress(context: Context, submission: Submission) -> Context:
    """Stages, bar and time left of a running submission."""
    now = context.get("now") or timezone.now()
    return {
        "submission": submission,
        "stages": STAGES,
        "percent": round(100 * submission.progress),
        "left": statuses.time_left(submission, now),
    }


def new_id() -> str:
    """Return an id for one element of a page."""
    return f"e{uuid4().hex[:8]}"
