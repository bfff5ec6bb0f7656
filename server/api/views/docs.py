"""The OpenAPI schema, and the page that shows it without loading anything from other sites."""

from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request


class Schema(SpectacularAPIView):
    """The OpenAPI schema. There is only one version, so a version in the query string is ignored."""

    def _get_version_parameter(self, request: Request) -> None:
        return None


class Docs(SpectacularSwaggerSplitView):
    """The page that displays the OpenAPI schema.

    Its script is a separate file, because the content security policy allows no inline code.
    """

    url_name = "schema"
    template_name = "api/docs.html"
