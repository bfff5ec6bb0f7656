"""Rendering of pages, with the status and headers of the refusal that a page shows."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from server.errors import Refused

REFUSED_HEADINGS = {
    "not_a_member": "This page is for teams of the challenge",
    "awaiting_approval": "Waiting for approval",
    "forbidden": "You cannot see this page yet",
}


def render_page(request: HttpRequest | None, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render a template; with a `refusal` in its context, the response has that refusal's status and headers."""
    refusal: Refused | None = context.get("refusal")
    status, headers = (refusal.status, refusal.headers) if refusal else (200, {})
    return HttpResponse(render_to_string(template, context, request), status=status, headers=headers)


def render_refusal(
    request: HttpRequest | None, refusal: Refused, *, slug: str = "", request_id: str = ""
) -> HttpResponse:
    """Render an error page for a refusal, with a link to the challenge of this slug.

    The template does not get the request, because showing who is logged in would need the database.
    """
    context = {
        "refusal": refusal,
        "heading": REFUSED_HEADINGS.get(refusal.code, "This request was refused"),
        "slug": slug,
        "may_join": bool(slug) and refusal.code == "not_a_member",
        "request_id": request_id,
    }
    return render_page(request, "errors/refused.html", context)


def request_id_of(request: HttpRequest) -> str:
    return getattr(request, "request_id", "")
