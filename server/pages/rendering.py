"""Renders HTML pages. A page that explains why a request was rejected has a matching HTTP status."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from server.errors import Refused

REFUSED_HEADINGS = {
    "not_a_member": "This page is only for teams in the challenge",
    "awaiting_approval": "Waiting for approval",
    "forbidden": "You cannot see this page yet",
    "maintenance": "This is not possible right now",
}


def render_page(request: HttpRequest | None, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render a template as an HTTP response.

    If the context contains an exception under the key `refusal`, the exception determines the HTTP status.
    """
    refusal: Refused | None = context.get("refusal")
    status, headers = (refusal.status, refusal.headers) if refusal else (200, {})
    response = HttpResponse(render_to_string(template, context, request), status=status, headers=headers)
    response.refusal_code = refusal.code if refusal else ""  # type: ignore[attr-defined]
    return response


def render_refusal(
    request: HttpRequest | None, refusal: Refused, *, slug: str = "", contact: str = "", request_id: str = ""
) -> HttpResponse:
    """Render an error page that explains an exception. If `slug` is given, the page has a link to this challenge.

    `contact` is the address of the organizers of this challenge, if the viewer may see the challenge. If `request` is
    None, the page does not show who is logged in, so that it can be rendered without the database.
    """
    context = {
        "refusal": refusal,
        "heading": REFUSED_HEADINGS.get(refusal.code, "This request was rejected"),
        "slug": slug,
        "contact": contact,
        "may_join": bool(slug) and refusal.code == "not_a_member",
        "request_id": request_id,
    }
    return render_page(request, "errors/refused.html", context)


def request_id_of(request: HttpRequest) -> str:
    return getattr(request, "request_id", "")
