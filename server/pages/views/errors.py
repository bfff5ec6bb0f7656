"""Error pages. They explain what happened and what to do, and show the ID of the request."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from server.errors import refusal_behind
from server.pages.rendering import render_refusal, request_id_of


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/400.html", status=400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "errors/csrf.html", status=403)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/403.html", status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Show an error page for an exception that was raised outside of any view.

    For example, the CSRF check often detects a full disk while it reads a form with a file. Saving a session fails if
    the database connection is lost. No exception middleware receives these exceptions. Django calls this function while
    it handles the exception, so `sys.exception()` returns the exception.
    """
    request_id = request_id_of(request)
    if refusal := refusal_behind(sys.exception()):
        return render_refusal(None, refusal, request_id=request_id)
    return HttpResponse(render_to_string("errors/500.html", {"request_id": request_id}), status=500)
