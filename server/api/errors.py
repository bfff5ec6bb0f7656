"""Converts exceptions in API views to problem documents (RFC 9457), which contain a stable error code."""

import logging
from math import ceil
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions

from server.errors import RETRY_STATUSES, STATUS_OF_CODE, refusal_behind, seconds_to_wait

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
# The HTTP status code for each error code that represents an HTTP error or an unexpected error. `server.errors`
# contains the status codes for all other error codes.
STATUS_OF_HTTP_CODE = {
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "unsupported_media_type": 415,
    "server_error": 500,
}
CODE_OF_EXCEPTION: tuple[tuple[type[Exception], str], ...] = (
    (Http404, "not_found"),
    (exceptions.NotFound, "not_found"),
    (exceptions.NotAuthenticated, "unauthenticated"),
    (exceptions.AuthenticationFailed, "unauthenticated"),
    (exceptions.PermissionDenied, "forbidden"),
    (PermissionDenied, "forbidden"),
    (exceptions.ValidationError, "invalid"),
    (exceptions.ParseError, "invalid"),
    (RequestDataTooBig, "file_too_large"),
    (SuspiciousOperation, "invalid"),
    (exceptions.MethodNotAllowed, "method_not_allowed"),
    (exceptions.NotAcceptable, "not_acceptable"),
    (exceptions.UnsupportedMediaType, "unsupported_media_type"),
    (exceptions.Throttled, "rate_limited"),
)
ADVICE: dict[type[Exception], str] = {
    exceptions.MethodNotAllowed: "The Allow header lists the allowed methods.",
    exceptions.NotAcceptable: "Request application/json; leaderboards are also available as text/csv.",
    exceptions.UnsupportedMediaType: "Send application/json, or multipart/form-data with a file.",
}
THROTTLED = "You sent too many requests. Wait for the number of seconds in the Retry-After header."
NOT_FOUND = "This URL does not exist, or you are not allowed to see it. See /api/v1/docs for all URLs."


def handle_exception(exception: Exception, context: dict[str, Any]) -> JsonResponse:
    """Return the problem document for an exception that an API view has raised."""
    request: HttpRequest = context["request"]._request
    refusal = refusal_behind(exception)
    if refusal is not None:
        if refusal.code == "maintenance":
            log.error("request %s: %s", getattr(request, "request_id", ""), exception)
        return problem_document(refusal.code, refusal.detail, **refusal.extra)
    code = next((code for kind, code in CODE_OF_EXCEPTION if isinstance(exception, kind)), None)
    if code is None:
        return server_error(exception, request)
    response = problem_document(code, detail_of(exception), **further_members(exception))
    if code == "unauthenticated":
        response["WWW-Authenticate"] = getattr(exception, "auth_header", "Bearer")
    return response


def problem_document(code: str, detail: str, **extra: Any) -> JsonResponse:
    """Return a response with the problem document for an error code, including the additional members in `extra`."""
    status = STATUS_OF_CODE.get(code) or STATUS_OF_HTTP_CODE[code]
    members = {
        "type": f"urn:podium:problem:{code}",
        "title": code.replace("_", " ").capitalize(),
        "status": status,
        "code": code,
        "detail": detail,
        **extra,
    }
    response = JsonResponse(members, status=status, content_type=MEDIA_TYPE)
    response.refusal_code = code  # type: ignore[attr-defined]
    if status in RETRY_STATUSES:
        response["Retry-After"] = str(seconds_to_wait(extra))
    return response


def detail_of(exception: Exception) -> str:
    """Return a sentence that explains an exception. For invalid input, it names the first error and its field."""
    if isinstance(exception, Http404):
        return NOT_FOUND
    if isinstance(exception, RequestDataTooBig):
        return f"A request body without a file can have at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes."
    if not isinstance(exception, exceptions.APIException):
        return "The request cannot be read. See /api/v1/docs for its format."
    if isinstance(exception, exceptions.Throttled):
        return THROTTLED
    if type(exception) in ADVICE:
        return f"{exception.detail} {ADVICE[type(exception)]}"
    if isinstance(exception, exceptions.ValidationError):
        field, messages = next(iter(errors_by_field(exception).items()))
        return f"{field}: {messages[0]}" if field else messages[0]
    return str(exception.detail)


def further_members(exception: Exception) -> dict[str, Any]:
    if isinstance(exception, exceptions.ValidationError):
        return {"errors": errors_by_field(exception)}
    if isinstance(exception, exceptions.Throttled):
        return {"retry_after": ceil(getattr(exception, "wait", None) or 1)}
    return {}


def errors_by_field(exception: exceptions.ValidationError) -> dict[str, list[str]]:
    """Return the messages of a validation error, keyed by field name.

    Messages about the input as a whole have the empty string as their key.
    """
    detail: Any = exception.detail
    fields = detail if isinstance(detail, dict) else {"": detail}
    return {
        "" if name == "non_field_errors" else str(name): [
            str(message) for message in (messages if isinstance(messages, list) else [messages])
        ]
        for name, messages in fields.items()
    }


def server_error(exception: Exception, request: HttpRequest) -> JsonResponse:
    """Log an unexpected exception and return a problem document with the request ID."""
    request_id = getattr(request, "request_id", "")
    log.error("request %s %s failed", request_id, request.method, exc_info=exception)
    detail = (
        "Something went wrong on our side. Try again. If it fails again, send the operator the request ID "
        f"{request_id}."
    )
    return problem_document("server_error", detail, request_id=request_id)
