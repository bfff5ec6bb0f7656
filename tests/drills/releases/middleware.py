"""Writes a row for each request, and reads the latest one."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from releases import COLUMN, RELEASE
from releases.models import Visit


def visits(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def respond(request: HttpRequest) -> HttpResponse:
        Visit.objects.create(**{COLUMN: request.path})
        Visit.objects.values_list(COLUMN).latest("pk")
        response = get_response(request)
        response["X-Release"] = str(RELEASE)
        return response

    return respond
