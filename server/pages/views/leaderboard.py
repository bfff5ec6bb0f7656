"""The current or an earlier leaderboard of a phase, as an HTML page and as CSV."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from server.challenges.models import Challenge, Phase
from server.leaderboards import queries
from server.leaderboards.export import csv_response
from server.leaderboards.listing import listing_of
from server.leaderboards.queries import ShownBoard
from server.leaderboards.validators import entity_tag, not_modified, tagged
from server.pages.cached_pages import cached_page
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.leaderboard.entries import rendered_by
from server.pages.leaderboard.page import page_context
from server.pages.leaderboard.query import LeaderboardQuery, parse_query

# The entity tag of the leaderboard page does not depend on these columns of challenges and phases, because they are
# shown only on other pages.
OTHER_PAGES = {"description", "rules", "data", "sample_submission", "candidates"}
FIELDS = sorted({field.attname for model in (Challenge, Phase) for field in model._meta.concrete_fields} - OTHER_PAGES)
# The viewer's attributes that affect the content of the page header.
HEADER = ("pk", "username", "is_staff", "organizes", "unread_notices")


@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponseBase:
    current = find_context(request, slug)
    query = parse_query(request, current)
    board = board_of(current, query)
    # Messages are shown only once, so a page that contains a message must not be cached.
    if len(messages.get_messages(request)):
        return render(request, "leaderboard/leaderboard.html", page_context(current, query, board))
    tag = entity_tag(board, query, listing_of(board, query.selection).teams, *page_parts(request, current))
    return not_modified(request, tag) or tagged(page(request, current, query, board, tag), tag)


def page(
    request: HttpRequest, current: ChallengeContext, query: LeaderboardQuery, board: ShownBoard, tag: str
) -> HttpResponse:
    """Return the leaderboard page. If the viewer is not logged in, the page can be cached until it changes."""

    def render() -> str:
        return render_to_string("leaderboard/leaderboard.html", page_context(current, query, board), request)

    is_shared = not request.user.is_authenticated and query.selection.may_be_cached
    return cached_page(request, tag, render) if is_shared else HttpResponse(render())


def board_of(current: ChallengeContext, query: LeaderboardQuery) -> ShownBoard:
    access = current.score_access
    return queries.board_seen(current.required_phase(), split=query.split, at=query.at, access=access, now=current.now)


def page_parts(request: HttpRequest, current: ChallengeContext) -> tuple[object, ...]:
    """Return the values, in addition to the entries, that determine the content of the leaderboard page.

    They describe the viewer, the challenge, the date and the version of the templates.
    """
    rows = [vars(current.challenge), *(vars(phase) for phase in current.phases)]
    names = [[row[name] for name in FIELDS if name in row] for row in rows]
    header = [getattr(request.user, name, None) for name in HEADER]
    viewer = (header, request.META.get("CSRF_COOKIE", ""), current.join_state)
    phase = current.required_phase()
    state = (phase.has_ended(current.now), phase.shows_private(current.now), phase.is_frozen(current.now))
    # The slider for earlier leaderboards contains only days before today, so the page depends on the current date.
    today = current.now.date()
    return (viewer, current.team and current.team.pk, names, state, today, rendered_by())


@require_safe
def board_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Serve the leaderboard entries that the query string selects, as a CSV file.

    Numbers are written at the highest precision that the viewer may see.
    """
    current = find_context(request, slug)
    phase, query = current.required_phase(), parse_query(request, current)
    board = board_of(current, query)
    listing = listing_of(board, query.selection)
    tag = entity_tag(board, "csv", query, listing.teams, phase.challenge.slug, phase.slug)
    return not_modified(request, tag) or tagged(csv_response(listing), tag)
