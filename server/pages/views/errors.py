"""What is shown when something goes wrong: what happened, what to do, the request id."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from server.errors import full_disk


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/400.html", status=400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "errors/csrf.html", status=403)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/403.html", status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Without the request, the template asks nobody who is logged in: the database may be what is broken.

    A full disk is told as such. It often shows while the CSRF check reads a form with a file: no view and no middleware
    sees that exception, only this function is called while it is handled.
    """
    refusal = full_disk(sys.exception())
    template, status = ("errors/refused.html", refusal.status) if refusal else ("errors/500.html", 500)
    context = {"request_id": getattr(request, "request_id", ""), "refusal": refusal}
    return HttpResponse(render_to_string(template, context), status=status)
