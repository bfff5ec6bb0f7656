"""Leaderboards, as pages of JSON or as one CSV file."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.api.lookup import phase_at, team_of
from server.api.pagination import BoardPages
from server.api.renderers import Csv
from server.api.schema import COUNTED, PAGE, refusals
from server.api.serializers.leaderboard import BoardQuery, BoardSerializer, RowSerializer
from server.challenges.models import Phase
from server.leaderboards.export import as_csv, csv_name
from server.leaderboards.queries import Board, board
from server.leaderboards.ties import with_ties

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
    def get(self, request: Request, slug: str, phase: str) -> Response:
        """List the teams by exact score. The private leaderboard is closed until the phase is over."""
        found = phase_at(request, slug, phase)
        query = BoardQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        leaderboard = board(found, split=asked["split"], at=asked["at"], viewer=request.user)
        page = page_response(leaderboard, found, request)  # Raises 404 for a page that does not exist, for CSV too.
        return csv_response(leaderboard, found) if request.accepted_renderer.format == Csv.format else page


def page_response(leaderboard: Board, phase: Phase, request: Request) -> Response:
    """Return one page of a leaderboard, with the entry of the user's team."""
    team, pages = team_of(request, phase), BoardPages()
    own = leaderboard.index_of(team.pk) if team else None
    page = pages.paginate_queryset(leaderboard.rows, request) or []
    start = leaderboard.rows.index(page[0]) if page else 0
    whole: dict[str, Any] = {
        "split": leaderboard.split,
        "signature": leaderboard.signature,
        "at": BoardSerializer().fields["at"].to_representation(leaderboard.at),
        "me": None if own is None else RowSerializer(with_ties(leaderboard, own, own + 1)[0]).data,
    }
    entries = with_ties(leaderboard, start, start + len(page))
    return pages.board_response(whole, RowSerializer(entries, many=True).data)


def csv_response(leaderboard: Board, phase: Phase) -> Response:
    metrics = [metric.name for metric in phase.declared_track.metrics]
    headers = {"Content-Disposition": f'attachment; filename="{csv_name(leaderboard, phase)}"'}
    return Response(as_csv(leaderboard, metrics=metrics), headers=headers)
