"""The page that shows organizers unusual submissions: files submitted by several teams, and sudden jumps in score."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from server.accounts.requests import PersonRequest
from server.organize.services import unusual
from server.pages.rendering import render_page
from server.pages.views.phase_live import organized_phase


@require_safe
@login_required
def show(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    current = organized_phase(request, slug, phase)
    found = current.required_phase()
    context = {
        "current": current,
        "route": "organize_unusual",
        "now": current.now,
        "files": unusual.identical_files(found),
        "jumps": unusual.jumps(found),
        "standard_errors": unusual.STANDARD_ERRORS,
        "compared": unusual.COMPARED_MAX,
        "decimals": current.score_access.decimals,
    }
    return render_page(request, "console/unusual.html", context)
