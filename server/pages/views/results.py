"""Downloads of a phase's results: signed JSON, and CSV."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from server.organize.services.results import download
from server.pages.challenge_context import find_context


@require_safe
def results(request: HttpRequest, slug: str, ending: str) -> HttpResponseBase:
    """Download the results. With `preliminary=1`, they may be unfinished and are marked as preliminary."""
    current = find_context(request, slug)
    return download(
        request,
        current.required_phase(),
        access=current.score_access,
        now=current.now,
        preliminary=request.GET.get("preliminary") == "1",
        is_csv=ending == "csv",
    )
