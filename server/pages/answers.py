"""A page, with the status and the headers of the refusal that it shows, if it shows one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from server.errors import Refused


def answer(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render like Django's `render`; a `refusal` in the context says how the request ended."""
    refusal: Refused | None = context.get("refusal")
    status, headers = (refusal.status, refusal.headers) if refusal else (200, {})
    return HttpResponse(render_to_string(template, context, request), status=status, headers=headers)
