"""Middleware for pages and the API: request IDs, the content security policy, request sizes and maintenance."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.functional import SimpleLazyObject

from evaluator import __version__
from server import logs, metrics
from server.api.errors import problem_document
from server.errors import Refused
from server.maintenance.services import refuse_changes
from server.pages.rendering import render_refusal

Handler = Callable[[HttpRequest], HttpResponse]

log = logging.getLogger(__name__)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
HARMLESS_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# maximum size of an upload form without its file: part boundaries, part headers and the submission's note
FORM_BYTES = 64 * 2**10
UPLOAD_ROUTES = frozenset(
    {
        *("submit", "api_submissions", "api_upload", "api_truths", "api_baselines", "api_challenges"),
        *("organize_import", "organize_truth", "organize_new_phase", "organize_baselines"),
    }
)
API = "/api/v1/"
READING = frozenset({"GET", "HEAD", "OPTIONS"})
# The routes whose requests are not refused during maintenance. Users can still log in and out. Monitoring routes are
# also exempt: they must work without the database, and the maintenance mode is stored there.
DURING_MAINTENANCE = frozenset(
    {
        *("account_login", "account_logout", "account_reauthenticate", "mfa_authenticate", "mfa_reauthenticate"),
        *("livez", "healthz", "readyz", "metrics", "status", "status_json"),
    }
)


class RequestIdMiddleware:
    """Middleware that gives every request an id, logs the request, and adds response headers.

    The headers are X-Request-Id and Podium-Version. An id that a proxy has assigned is kept if it is short and has no
    unusual characters.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given, started = request.headers.get("X-Request-Id", ""), time.perf_counter()
        request_id = given if HARMLESS_ID.fullmatch(given) else uuid.uuid4().hex[:12]
        request.request_id = request_id  # type: ignore[attr-defined]
        with logs.bound(request=request_id):
            response = self.get_response(request)
            seconds = time.perf_counter() - started
            note_request(request, response, seconds)
        response["X-Request-Id"] = request_id
        response["Podium-Version"] = __version__
        return response


def note_request(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    """Log a request and measure its duration. The route is recorded instead of the path, which may contain a secret."""
    route = request.resolver_match.route if request.resolver_match else ""
    method = request.method if request.method in METHODS else "other"
    code = getattr(response, "refusal_code", "")
    metrics.request_seconds.labels(method, route).observe(seconds)
    metrics.responses.labels(str(response.status_code)).inc()
    if code:
        metrics.refusals.labels(code).inc()
    fields = {
        "method": method,
        "route": route,
        "status": response.status_code,
        "code": code,
        "ms": round(seconds * 1000, 1),
        "user": known_user(request),
    }
    log.info("request", extra=fields)


def known_user(request: HttpRequest) -> int | None:
    """Return the id of the request's user, or None if the user has not been loaded. No query is made."""
    user = getattr(request, "_cached_user", None)
    if user is None and not isinstance(vars(request).get("user"), SimpleLazyObject):
        user = vars(request).get("user")
    return getattr(user, "pk", None)


class CompressionMiddleware(GZipMiddleware):
    """Middleware that compresses pages.

    Downloads are not compressed, because many of them are compressed files already.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = response.get("Content-Type", "").startswith("text/html")
        return super().process_response(request, response) if is_page else response


class ContentSecurityPolicyMiddleware:
    """Middleware that adds a content security policy, which blocks inline code and anything from other sites."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Content-Security-Policy", POLICY)
        return response


class MaintenanceMiddleware:
    """Middleware that refuses requests that change data while maintenance mode is on.

    The admin site is exempt, because only staff can use it. An upload is refused before the server has read the file.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        match = request.resolver_match
        exempt = match is not None and (match.url_name in DURING_MAINTENANCE or match.app_name == "admin")
        if request.method in READING or exempt:
            return None
        try:
            refuse_changes()
        except Refused as refusal:
            return refused(request, refusal)
        except (InterfaceError, OperationalError):
            # The database is unavailable. The view detects this as well, and returns a suitable response.
            return None
        return None


class BodySizeMiddleware:
    """Middleware that rejects request bodies larger than the limit for the requested URL.

    It runs before the CSRF check, because that check parses the form, which writes uploaded files to disk.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        refusal = body_refusal(request)
        return None if refusal is None else refused(request, refusal)


def refused(request: HttpRequest, refusal: Refused) -> HttpResponse:
    if request.path.startswith(API):
        return problem_document(refusal.code, refusal.detail, **refusal.extra)
    return render_refusal(request, refusal)


def body_refusal(request: HttpRequest) -> Refused | None:
    """Return an error if a request's headers declare too large a body or no length, otherwise None."""
    if "Transfer-Encoding" in request.headers:
        return Refused(
            "invalid",
            "The request body was sent in chunks, without a Content-Length header. Upload a file, not the output of a "
            "pipe.",
        )
    route = request.resolver_match.url_name if request.resolver_match else None
    if route in UPLOAD_ROUTES:
        allowed, form_bytes = settings.UPLOAD_MAX_BYTES, FORM_BYTES
        detail = f"A file can have at most {allowed:,} bytes. Compress it with gzip, or submit fewer predictions."
    else:
        allowed, form_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE, 0
        detail = f"A request to this URL can have at most {allowed:,} bytes."
    if content_length(request) > allowed + form_bytes:
        return Refused("file_too_large", detail, allowed_bytes=allowed)
    return None


def content_length(request: HttpRequest) -> int:
    """Return the Content-Length of a request. If it is not a number, return 0, because Django then reads no body."""
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
