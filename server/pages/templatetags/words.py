"""Filters that turn a value into words."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.safestring import SafeString

from server.challenges import revealed
from server.challenges.models import Phase
from server.pages import defects, markup, sizes, statuses
from server.pages.classes import Wish
from server.submissions.models import Submission

register = template.Library()


@register.filter
def size(amount: int) -> str:
    return sizes.in_words(amount)


@register.filter
def markdown(text: str) -> SafeString:
    return markup.render(text)


@register.filter
def sentence(submission: Submission) -> str:
    return statuses.sentence(submission)


@register.filter
def whose_fault(submission: Submission) -> str:
    return statuses.whose_fault(submission)


@register.filter
def scores_shown(phase: Phase) -> str:
    return revealed.shown(phase)


@register.filter
def key(mapping: Any, name: Any) -> Any:
    """The value under a name that only a variable knows; None where there is none."""
    return mapping.get(name) if mapping else None


@register.filter
def defect_count(problems: Mapping[str, Any]) -> str:
    return defects.count_in_words(problems)


@register.filter
def choosing(wish: Wish, label: str) -> str:
    """The address of the same report with the curve of this class."""
    return wish.query(chosen=label)
