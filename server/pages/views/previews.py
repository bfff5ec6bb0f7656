"""The page where organizers preview a rescoring: the leaderboard before and after it, and the rank changes."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from server.accounts.requests import PersonRequest
from server.leaderboards.queries import PAGE_ROWS
from server.organize.services import rescoring
from server.organize.services.previews import Preview, preview
from server.pages.challenge.splits import split_links
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context
from server.pages.views.truths import organized_phase
from server.submissions.feedback import SPLITS


@require_safe
@login_required
def show(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show organizers how the open rescoring would change a leaderboard.

    The page shows the entries whose ranks change, or the leaderboards before and after the rescoring side by side.
    """
    found = organized_phase(request, slug, phase)
    begun = rescoring.open_rescoring(found)
    if begun is None:
        raise Http404("no rescoring has been started")
    current, asked = organized_context(request, slug), request.GET.get("split", "")
    split = asked if asked in SPLITS else "public"
    only_changes = request.GET.get("show") != "all"
    shown = preview(begun, split=split)
    pages = pages_of(shown, request.GET.get("page"), only_changes=only_changes)
    chosen = slice(max(0, pages.start_index() - 1), pages.end_index())
    show_query = "" if only_changes else "&show=all"
    context = {
        "current": current,
        "now": current.now,
        "of_phase": found,
        "begun": begun,
        "left": rescoring.count_left(begun),
        "preview": shown,
        "only_changes": only_changes,
        "changes": shown.rank_changes[chosen],
        "boards": [("Before", shown.before[chosen], True), ("After", shown.after[chosen], False)],
        "pages": pages,
        "splits": split_links(SPLITS, current=split, query=lambda one: f"?split={one}{show_query}"),
        "link": f"?split={split}{show_query}&",
    }
    return render_page(request, "organize/preview.html", context)


def pages_of(shown: Preview, page: str | None, *, only_changes: bool) -> Page[Any]:
    count = len(shown.rank_changes) if only_changes else max(len(shown.before), len(shown.after))
    return Paginator(range(count), PAGE_ROWS).get_page(page)
