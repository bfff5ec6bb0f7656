"""Pages to read the schema and try it, all from our own server."""

from drf_spectacular.views import SpectacularSwaggerSplitView


class Docs(SpectacularSwaggerSplitView):
    """Its start is a script with an address of its own, so that the site's policy need not allow inline ones."""

    url_name = "schema"
    template_name = "api/docs.html"
