"""The settings of the service, extended by the app `releases` and its middleware."""

from collections.abc import Callable

from django.apps import apps
from django.http import HttpRequest, HttpResponse

from server.settings import *  # noqa: F403
from server.settings import INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS += ["releases"]
MIDDLEWARE += ["releases.settings.visits"]


def visits(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Return a middleware that writes a row to the database for each request, and reads the latest row."""

    def respond(request: HttpRequest) -> HttpResponse:
        model = apps.get_model("releases", "Visit")
        column = model._meta.get_fields()[1].name
        model._default_manager.create(**{column: request.path})
        model._default_manager.values_list(column).latest("pk")
        return get_response(request)

    return respond
