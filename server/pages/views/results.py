"""Downloads the results of a phase: signed, as JSON, and as CSV."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from server.organize.services import results
from server.pages.challenge_context import find_context


@require_safe
def results_json(request: HttpRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    return results.json_response(current.required_phase(), access=current.score_access, now=current.now)


@require_safe
def results_csv(request: HttpRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    return results.csv_response(current.required_phase(), access=current.score_access, now=current.now)
