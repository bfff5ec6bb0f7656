"""Leaderboards, as pages of JSON, or whole as CSV or JSON."""

import json
from collections.abc import Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from server.api.lookup import phase_at, team_of
from server.api.pagination import BoardPages
from server.api.renderers import Csv
from server.api.schema import COUNTED, PAGE, refusals
from server.api.serializers.leaderboard import BoardQuery, BoardSerializer, time_text
from server.challenges.models import Team
from server.leaderboards.export import as_csv, csv_name
from server.leaderboards.queries import BoardRow, ShownBoard, board
from server.leaderboards.ties import with_ties
from server.leaderboards.validators import entity_tag, not_modified, tagged

FORMAT = OpenApiParameter(
    "format", enum=["json", "csv"], default="json", description="`csv` returns the whole leaderboard"
)


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
        """List the teams by exact score. The private leaderboard is closed until the phase is over."""
        found = phase_at(request, slug, phase)
        query = BoardQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        shown = board(found, split=asked["split"], at=asked["at"], viewer=request.user)
        team = team_of(request, found)
        wanted = (request.accepted_renderer.format, request.build_absolute_uri(), team and team.pk)
        tag = entity_tag(shown, *wanted)
        return not_modified(request, tag) or tagged(self.answer(request, shown, team, whole=asked["all"]), tag)

    def answer(self, request: Request, shown: ShownBoard, team: Team | None, *, whole: bool) -> HttpResponseBase:
        page = BoardPages()
        places = page.paginate_queryset(range(shown.count), request) or []  # a page that does not exist is always 404
        if request.accepted_renderer.format == Csv.format:
            return csv_response(shown)
        own = shown.index_of(team.pk) if team else None
        head = {**described(shown), "me": None if own is None else row_json(with_ties(shown, own, own + 1)[0])}
        if whole:
            return StreamingHttpResponse(json_stream(shown, head), content_type="application/json")
        rows = with_ties(shown, places[0], places[-1] + 1) if places else []
        return page.board_response(head, [row_json(row) for row in rows])


def described(shown: ShownBoard) -> dict[str, Any]:
    """Return the fields of the whole leaderboard."""
    return {
        "split": shown.split,
        "signature": shown.signature,
        "at": time_text(shown.at),
        "reconstructed": shown.reconstructed,
    }


def row_json(row: BoardRow) -> dict[str, Any]:
    """Return a row as `RowSerializer` describes it. A serializer would take much longer."""
    return {
        "rank": row.rank,
        "team": row.team,
        "score": row.score,
        "interval": row.interval,
        "scores": row.scores,
        "entries": row.entries,
        "submitted_at": time_text(row.submitted_at),
        "baseline": row.baseline,
        "tied": row.tied,
    }


def json_stream(shown: ShownBoard, head: dict[str, Any]) -> Iterator[str]:
    """Yield the whole leaderboard as one JSON object, some rows at a time. Ties are not computed."""
    fields = {**head, "count": shown.count, "next": None, "previous": None, "results": []}
    yield json.dumps(fields, cls=DjangoJSONEncoder).removesuffix("]}")
    separator = ""
    for rows in shown.chunks():
        yield separator + ", ".join(json.dumps(row_json(row)) for row in rows)
        separator = ", "
    yield "]}"


def csv_response(shown: ShownBoard) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        as_csv(shown.chunks(), metrics=[metric.name for metric in shown.phase.declared_track.metrics]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{csv_name(shown)}"'},
    )
