"""Keeps the warnings about a new phase or a copy until the page that is shown next.

The forms redirect after they have created something, so that reloading a page does not create it twice. There can be
too many warnings for a cookie, so they are in the session.
"""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from evaluator.problems import Problem

KEY = "kept_warnings"


def redirect_with_warnings(request: HttpRequest, warnings: Iterable[Problem], *page: Any) -> HttpResponse:
    """Redirect to a page that shows the warnings. They replace earlier warnings that no page has shown."""
    response = redirect(*page)
    request.session[KEY] = {"path": response["Location"], "warnings": [one.as_dict() for one in warnings]}
    return response


def take_warnings(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the warnings that are stored for this page, and remove them, so that the page shows them once."""
    if request.session.get(KEY, {}).get("path") != request.path:
        return []
    kept: list[dict[str, Any]] = request.session.pop(KEY)["warnings"]
    return kept
