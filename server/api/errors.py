"""Every refusal and every accident of the API as one kind of document: RFC 9457 problem+json with a stable code."""

import logging
from math import ceil
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions

from server.errors import COME_AGAIN, STATUS_OF_CODE, refusal_behind, seconds_to_wait

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
# Refusals of the protocol rather than of policy: they keep HTTP's own status.
STATUS_OF_PROTOCOL_CODE = {
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
WHAT_TO_DO: dict[type[Exception], str] = {
    exceptions.Throttled: "The Retry-After header has the number of seconds.",
    exceptions.MethodNotAllowed: "The Allow header lists the allowed methods.",
    exceptions.NotAcceptable: "Request application/json; leaderboards are also available as text/csv.",
    exceptions.UnsupportedMediaType: "Send application/json, or multipart/form-data with a file.",
}
NOTHING_HERE = "There is nothing at this address, or you are not allowed to see it. See /api/v1/docs for all addresses."


def problem(exception: Exception, context: dict[str, Any]) -> JsonResponse:
    """Answer an exception. What nobody foresaw is logged with its traceback and answered with the request's id."""
    request: HttpRequest = context["request"]._request
    refusal = refusal_behind(exception)
    if refusal is not None:
        if refusal.code == "maintenance":
            log.error("request %s: %s", getattr(request, "request_id", ""), exception)
        return document(refusal.code, refusal.detail, **refusal.extra)
    code = next((code for kind, code in CODE_OF_EXCEPTION if isinstance(exception, kind)), None)
    if code is None:
        return accident(exception, request)
    response = document(code, said(exception), **extras(exception))
    if code == "unauthenticated":
        response["WWW-Authenticate"] = getattr(exception, "auth_header", "Bearer")
    return response


def document(code: str, detail: str, **extra: Any) -> JsonResponse:
    """Return the response for a code; further members as they come."""
    status = STATUS_OF_CODE.get(code) or STATUS_OF_PROTOCOL_CODE[code]
    members = {
        "type": f"urn:podium:problem:{code}",
        "title": code.replace("_", " ").capitalize(),
        "status": status,
        "code": code,
        "detail": detail,
        **extra,
    }
    response = JsonResponse(members, status=status, content_type=MEDIA_TYPE)
    if status in COME_AGAIN:
        response["Retry-After"] = str(seconds_to_wait(extra))
    return response


def said(exception: Exception) -> str:
    """One sentence: the exception's own, or for wrong input the first complaint with its field."""
    if isinstance(exception, Http404):
        return NOTHING_HERE
    if isinstance(exception, RequestDataTooBig):
        return f"A request body without a file may have at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes."
    if not isinstance(exception, exceptions.APIException):
        return "The request cannot be read. See /api/v1/docs for its format."
    if type(exception) in WHAT_TO_DO:
        return f"{exception.detail} {WHAT_TO_DO[type(exception)]}"
    if isinstance(exception, exceptions.ValidationError):
        field, complaints = next(iter(complaints_of(exception).items()))
        return f"{field}: {complaints[0]}" if field else complaints[0]
    return str(exception.detail)


def extras(exception: Exception) -> dict[str, Any]:
    if isinstance(exception, exceptions.ValidationError):
        return {"errors": complaints_of(exception)}
    if isinstance(exception, exceptions.Throttled):
        return {"retry_after": ceil(getattr(exception, "wait", None) or 1)}
    return {}


def complaints_of(exception: exceptions.ValidationError) -> dict[str, list[str]]:
    """Return what is wrong, by field; the empty name stands for the whole."""
    detail: Any = exception.detail
    fields = detail if isinstance(detail, dict) else {"": detail}
    return {
        "" if name == "non_field_errors" else str(name): [
            str(one) for one in (said if isinstance(said, list) else [said])
        ]
        for name, said in fields.items()
    }


def accident(exception: Exception, request: HttpRequest) -> JsonResponse:
    """Our own fault: the log gets everything, the client the id to quote."""
    request_id = getattr(request, "request_id", "")
    log.error("request %s %s %s failed", request_id, request.method, request.path, exc_info=exception)
    detail = f"Something went wrong on our side. Try again. If it fails again, send us the request ID {request_id}."
    return document("server_error", detail, request_id=request_id)
