"""What every response carries: a request id to quote, a policy that loads nothing from elsewhere; and refusals."""

import logging
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from server.errors import refusal_behind
from server.pages.answers import answer
from server.pages.views.errors import without_database

log = logging.getLogger(__name__)

Handler = Callable[[HttpRequest], HttpResponse]

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class RequestIdMiddleware:
    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = uuid.uuid4().hex[:12]  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        return response


class ContentSecurityPolicyMiddleware:
    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Content-Security-Policy", POLICY)
        return response


class RefusalMiddleware:
    """A refusal that a view did not show beside its form becomes a page of its own, with the contract's status."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        refusal = refusal_behind(exception)
        if refusal is None:
            return None
        if refusal.code == "maintenance":
            log.error("request %s: %s", getattr(request, "request_id", ""), exception)
            return without_database(request, refusal)
        slug = request.resolver_match.kwargs.get("slug") if request.resolver_match else None
        return answer(request, "errors/refused.html", {"refusal": refusal, "slug": slug})
