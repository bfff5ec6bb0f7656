"""Component templates with the little arithmetic that each needs. What they look like is in templates/components/."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from django import template
from django.utils import timezone

from evaluator.digits import Interval
from server.clock import is_over
from server.pages import defects, digits, drawing, statuses, times
from server.submissions.models import STAGES, Submission

register = template.Library()
Context = dict[str, Any]
SQUARES = 10
DECIMALS = 3  # of what explains a score


@register.inclusion_tag("components/honest_score.html")
def honest_score(
    value: float | None, interval: Interval | None = None, decimals: int | None = None, kind: str = ""
) -> Context:
    """A score whose digits beyond its interval are faint."""
    shown = None if value is None else digits.honest(value, interval, decimals=decimals)
    return {"digits": shown, "interval": interval, "kind": kind}


@register.inclusion_tag("components/honest_score.html")
def share(value: float, decimals: int | None = None) -> Context:
    """A fraction that explains: three digits tell enough, and no interval says that more would hold."""
    return {"digits": digits.honest(value, decimals=min(DECIMALS, DECIMALS if decimals is None else decimals))}


@register.inclusion_tag("components/honest_score.html")
def gain(value: float, ends: Interval | None = None, decimals: int | None = None) -> Context:
    """A difference of two scores, with its sign; of three digits where no interval says how many hold."""
    shown = DECIMALS if ends is None and decimals is None else decimals
    return {"digits": digits.signed(digits.honest(value, ends, decimals=shown)), "interval": ends}


@register.simple_tag
def interval_ends(ends: Interval, decimals: int | None = None) -> str:
    """An interval in words."""
    return digits.ends(ends, decimals=decimals)


@register.inclusion_tag("components/interval.html")
def interval(value: float, ends: Interval | None, within: Interval | None) -> Context:
    """A band on a track, where there is an interval."""
    if ends is None or within is None:
        return {"band": None}
    return {"ends": ends, "words": digits.ends(ends), "value": value, "band": drawing.band(value, ends, within)}


@register.inclusion_tag("components/time.html", takes_context=True)
def when(context: Context, moment: datetime | None, style: str = "relative") -> Context:
    """A moment: relative words or UTC, to the second on hover."""
    if moment is None:
        return {}
    moment = moment.replace(microsecond=0)
    now = context.get("now") or timezone.now()
    words = times.relative(moment, now) if style == "relative" else times.absolute(moment)
    return {"moment": moment, "style": style, "words": words, "exact": times.exact(moment)}


@register.inclusion_tag("components/countdown.html", takes_context=True)
def countdown(context: Context, opens: datetime, closes: datetime | None) -> Context:
    """What is next: opening, closing, or how long ago it closed."""
    now = context.get("now") or timezone.now()
    if opens > now:
        word, moment = "Opens", opens
    elif closes is None:
        word, moment = "Open", None
    else:
        word, moment = ("Closed" if is_over(closes, now) else "Closes"), closes
    return {"now": now, "word": word, "moment": moment, "gap": times.span(abs(moment - now)) if moment else ""}


@register.inclusion_tag("components/status.html")
def status(submission: Submission) -> Context:
    """The state's word and shape."""
    return {"status": submission.status}


@register.inclusion_tag("components/quota.html", takes_context=True)
def quota(context: Context, state: Any) -> Context:
    """Squares for what is used and left today, and when the next one comes."""
    now = context.get("now") or timezone.now()
    squares = [(place * 16, place < state.used) for place in range(state.per_day)] if state.per_day <= SQUARES else []
    waits = state.next_allowed_at and state.next_allowed_at > now
    return {
        "quota": state,
        "squares": squares,
        "width": 16 * len(squares) - 4,
        "gap": times.span(state.next_allowed_at - now) if waits else "",
    }


@register.inclusion_tag("components/medal.html")
def medal(rank: int | None) -> Context:
    """A rank, with a dot for the first three."""
    return {"rank": rank}


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
