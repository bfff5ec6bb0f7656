"""Downloads of the results of a phase, as signed JSON and as CSV."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from server.organize.services.results import download
from server.pages.challenge_context import find_context


@require_safe
def results(request: HttpRequest, slug: str, ending: str) -> HttpResponseBase:
    """Serve the results of a phase as a file.

    Results that are not final can be downloaded only with the query parameter `preliminary=1`, and are marked as
    preliminary.
    """
    current = find_context(request, slug)
    return download(
        request,
        current.required_phase(),
        access=current.score_access,
        now=current.now,
        preliminary=request.GET.get("preliminary") == "1",
        is_csv=ending == "csv",
    )
