"""The API view for leaderboards, which returns a page as JSON, or all entries as CSV or JSON."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from server.api.lookup import read_phase_at
from server.api.pagination import BoardPages
from server.api.renderers import Csv
from server.api.schema import COUNTED, PAGE, refusals
from server.api.serializers.leaderboard import BoardQuery, BoardSerializer, interval_json
from server.challenges.models import Team
from server.clock import time_text
from server.leaderboards.earlier_ranks import compared_since, with_changes
from server.leaderboards.export import csv_response
from server.leaderboards.listing import Listing, listing_of
from server.leaderboards.own_entry import OwnEntry, own_entry
from server.leaderboards.queries import BoardRow, ShownBoard, board_seen
from server.leaderboards.validators import entity_tag, not_modified, tagged
from server.submissions.feedback import score_access

FORMAT = OpenApiParameter("format", enum=["json", "csv"], default="json", description="`csv` returns all pages")


class Leaderboard(APIView):
    permission_classes = (AllowAny,)
    renderer_classes = (JSONRenderer, Csv)

    @extend_schema(
        operation_id="read_leaderboard",
        parameters=[BoardQuery, FORMAT, PAGE],
        responses={
            (200, "application/json"): BoardSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            **refusals("not_found", *COUNTED),
        },
    )
    def get(self, request: Request, slug: str, phase: str) -> HttpResponseBase:
        """List the teams on a leaderboard, ordered by their scores before rounding.

        The private leaderboard is not available until the phase is over.
        """
        found, read = read_phase_at(request, slug, phase)
        query = parsed(request.META.get("QUERY_STRING", "").encode("latin-1"))
        asked = query.validated_data
        access = score_access(found, viewer=request.user, now=read.now, is_organizer=read.is_organizer)
        shown = board_seen(found, split=asked["split"], at=asked["at"], access=access, now=read.now)
        listing = listing_of(shown, query.selection(found.declared_track))
        team = read.membership.team if read.membership else None
        # The response contains absolute links to other pages, so the requested URL is part of the entity tag.
        address = (request.scheme, request.get_host(), request.get_full_path())
        wanted = (request.accepted_renderer.format, address, team and team.pk)
        tag = entity_tag(shown, listing.teams, *wanted)
        return not_modified(request, tag) or tagged(self.answer(request, listing, team, whole=asked["all"]), tag)

    def answer(self, request: Request, listing: Listing, team: Team | None, *, whole: bool) -> HttpResponseBase:
        page, shown = BoardPages(), listing.board
        # `paginate_queryset` raises NotFound for a page that does not exist. Therefore it is also called for responses
        # that are not paginated (CSV, or all entries).
        places = page.paginate_queryset(range(listing.count), request) or []
        if request.accepted_renderer.format == Csv.format:
            return csv_response(listing)
        own = shown.row_of(team.pk) if team else None
        head = {**described(shown), "me": own and me_json(own_entry(shown, *with_changes(shown, [own])))}
        if whole:
            return StreamingHttpResponse(json_stream(listing, head), content_type="application/json")
        rows = with_changes(shown, listing.page(places[0], places[-1] + 1)) if places else []
        return page.board_response(head, [row_json(row) for row in rows])


@lru_cache(maxsize=100)
def parsed(query_string: bytes) -> BoardQuery:
    """Return the parsed query string of a request for a leaderboard.

    The results are cached. Otherwise, parsing would take longer than all other steps of a 304 response.
    """
    query = BoardQuery(data=QueryDict(query_string))
    query.is_valid(raise_exception=True)
    return query


def described(shown: ShownBoard) -> dict[str, Any]:
    """Return the JSON fields about a leaderboard as a whole, such as its split (public or private) and its date."""
    since = compared_since(shown)
    return {
        "split": shown.split,
        "signature": shown.signature,
        "at": time_text(shown.at),
        "reconstructed": shown.reconstructed,
        "frozen": shown.is_frozen,
        "changes_since": since and time_text(since),
    }


def row_json(row: BoardRow) -> dict[str, Any]:
    """Return a leaderboard entry as a dict with the fields of `RowSerializer`.

    The serializer is not used, because it would be much slower.
    """
    earlier = row.earlier
    difference = None if earlier is None or earlier.score is None else row.score - earlier.score
    return {
        "rank": row.rank,
        "team": row.team,
        "team_id": row.team_id,
        "score": row.score,
        "interval": row.interval,
        "scores": row.scores,
        "entries": row.entries,
        "submitted_at": time_text(row.submitted_at),
        "baseline": row.baseline,
        "tied": row.tied,
        **interval_json(row.rank_interval),
        "rank_change": earlier.rank - row.rank if earlier and earlier.rank and row.rank else None,
        "is_new": earlier is not None and earlier.rank is None,
        "score_change": difference,
        "score_change_interval": row.gain and row.gain.interval,
        "public_rank": row.public_rank,
    }


def me_json(own: OwnEntry) -> dict[str, Any]:
    """Return the entry of the user's team as a dict with the fields of `OwnEntrySerializer`."""
    way = own.next_rank
    return {
        **row_json(own.row),
        "of": own.of,
        "percentile": own.percentile,
        "next_rank": way and way.rank,
        "gap": way and way.gap,
        "gap_may_be_luck": way and way.may_be_luck,
    }


def json_stream(listing: Listing, head: dict[str, Any]) -> Iterator[str]:
    """Yield a whole leaderboard as one JSON object, a few entries at a time.

    `head` contains the fields about the leaderboard as a whole, which precede the entries.
    """
    fields = {**head, "count": listing.count, "next": None, "previous": None, "results": []}
    yield json.dumps(fields, cls=DjangoJSONEncoder).removesuffix("]}")
    separator = ""
    for rows in listing.chunks():
        yield separator + ", ".join(json.dumps(row_json(row)) for row in with_changes(listing.board, rows))
        separator = ", "
    yield "]}"
