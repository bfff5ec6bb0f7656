"""What is shown when something goes wrong: what happened, what to do, the request id."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from server.errors import Refused, refusal_behind


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/400.html", status=400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "errors/csrf.html", status=403)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/403.html", status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Show what went wrong outside any view.

    A full disk often shows while the CSRF check reads a form with a file, and a lost database while a session is
    saved: no middleware sees these exceptions, only this function is called while one is handled.
    """
    if refusal := refusal_behind(sys.exception()):
        return without_database(request, refusal)
    return HttpResponse(render_to_string("errors/500.html", {"request_id": request_id_of(request)}), status=500)


def without_database(request: HttpRequest, refusal: Refused) -> HttpResponse:
    """Show a refusal. Without the request the template does not ask who is logged in: the database may be away."""
    context = {"request_id": request_id_of(request), "refusal": refusal}
    page = render_to_string("errors/refused.html", context)
    return HttpResponse(page, status=refusal.status, headers=refusal.headers)


def request_id_of(request: HttpRequest) -> str:
    return getattr(request, "request_id", "")
