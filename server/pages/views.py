"""The front page, a challenge's pages, and what is shown when something goes wrong."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "error.html", {"code": 400}, status=400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "error.html", {"code": 403, "csrf": True}, status=403)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "error.html", {"code": 403}, status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "error.html", {"code": 404}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "error.html", {"code": 500}, status=500)
