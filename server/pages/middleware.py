"""Middleware for HTML pages: error pages for rejected requests, and visible marks for hidden characters."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from evaluator.hidden import revealed
from server.challenges.models import Challenge
from server.errors import refusal_behind
from server.pages.rendering import render_refusal, request_id_of

log = logging.getLogger(__name__)

Handler = Callable[[HttpRequest], HttpResponse]
SERVER_FAULT = 500  # For errors with this or a higher HTTP status, the database may be unavailable.


class RefusalMiddleware:
    """Middleware that responds with an error page if a view raises Refused."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        refusal = refusal_behind(exception)
        if refusal is None:
            return None
        if refusal.code == "maintenance":
            request_id = request_id_of(request)
            log.error("request %s: %s", request_id, exception)
            return render_refusal(None, refusal, request_id=request_id)
        slug = request.resolver_match.kwargs.get("slug", "") if request.resolver_match else ""
        is_readable = slug and refusal.status < SERVER_FAULT
        contact = Challenge.objects.contact_of(slug, reader=request.user) if is_readable else ""
        return render_refusal(request, refusal, slug=slug, contact=contact)


ADMIN = "/admin/"


class HiddenCharactersMiddleware:
    """Middleware that makes hidden Unicode characters visible in HTML pages.

    It processes complete pages, so that no text from a participant or organizer is overlooked. Admin pages are left
    unchanged, because their forms would save the changed text.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html") and not response.streaming
        # Compressed pages are skipped. They come from `cached_pages`, where hidden characters were made visible before
        # the pages were compressed.
        is_compressed = response.has_header("Content-Encoding")
        if is_page and not is_compressed and not request.path.startswith(ADMIN):
            response.content = revealed(response.content)
        return response
