"""No body is read that is larger than what may be sent to its address: reading a form writes its files to disk."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from server.api.errors import document
from server.errors import Refused
from server.pages.answers import answer

# What a form may weigh beside its file: boundaries, headers, the note.
FORM_BYTES = 64 * 2**10
TAKE_A_FILE = frozenset({"submit", "api_submissions", "api_truths"})  # names of addresses
API = "/api/v1/"

Handler = Callable[[HttpRequest], HttpResponse]


class BodySizeMiddleware:
    """Stands before the CSRF check, which reads the form; from there on everybody may read."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        refusal = refusal_of(request)
        if refusal is None:
            return None
        if request.path.startswith(API):
            return document(refusal.code, refusal.detail, **refusal.extra)
        return answer(request, "errors/refused.html", {"refusal": refusal})


def refusal_of(request: HttpRequest) -> Refused | None:
    """Say why the body may not be read; by its headers alone."""
    if "Transfer-Encoding" in request.headers:
        return Refused(
            "invalid",
            "The request body was sent in chunks, without a Content-Length header. Send a file instead of a pipe.",
        )
    address = request.resolver_match.url_name if request.resolver_match else None
    if address in TAKE_A_FILE:
        allowed, beside = settings.UPLOAD_MAX_BYTES, FORM_BYTES
        detail = f"A file may have at most {allowed:,} bytes. Compress it with gzip, or submit fewer predictions."
    else:
        allowed, beside = settings.DATA_UPLOAD_MAX_MEMORY_SIZE, 0
        detail = f"A request to this address may have at most {allowed:,} bytes."
    if length_of(request) > allowed + beside:
        return Refused("file_too_large", detail, allowed_bytes=allowed)
    return None


def length_of(request: HttpRequest) -> int:
    """Return the declared length; what is no number counts as nothing, for Django reads nothing then."""
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
