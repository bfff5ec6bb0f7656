"""The OpenAPI schema of the API, and the documentation page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

from server.api.documentation import sections


class Schema(SpectacularAPIView):
    """The view of the OpenAPI schema. It ignores a version in the query string, because there is only one version."""

    def _get_version_parameter(self, request: Request) -> None:
        return None


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show every operation of the API with an example, on a page that works without JavaScript."""
    return render(request, "api/docs.html", {"sections": sections()})
