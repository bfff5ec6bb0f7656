"""The published schema, and pages to read and try it, all from our own server."""

from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request


class Schema(SpectacularAPIView):
    """There is one version of it: what an address says of another is not repeated in a header."""

    def _get_version_parameter(self, request: Request) -> None:
        return None


class Docs(SpectacularSwaggerSplitView):
    """Its start is a script with an address of its own, so that the site's policy need not allow inline ones."""

    url_name = "schema"
    template_name = "api/docs.html"
