"""Keeps the warnings about a new phase or a copy until the page that is shown next.

The forms redirect after they have created something, so that reloading a page does not create it twice. There can be
too many warnings for a cookie, so they are in the session.
"""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest

from evaluator.problems import Problem

KEY = "warnings"


def keep_warnings(request: HttpRequest, warnings: Iterable[Problem]) -> None:
    """Store warnings for the next page. They replace earlier warnings that no page has shown."""
    request.session[KEY] = [one.as_dict() for one in warnings]


def take_warnings(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the stored warnings and remove them, so that only one page shows them."""
    kept: list[dict[str, Any]] = request.session.pop(KEY, [])
    return kept
