"""A phase's leaderboard, by pages as JSON or whole as CSV."""

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
from server.leaderboards.export import as_csv
from server.leaderboards.queries import Board, board
from server.leaderboards.ties import with_ties

FORMAT = OpenApiParameter("format", enum=["json", "csv"], default="json", description="csv: the whole leaderboard")


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
        """Teams ranked by their best exact score. The private leaderboard is closed until the phase is over."""
        found = phase_at(request, slug, phase)
        asked = BoardQuery(data=request.query_params)
        asked.is_valid(raise_exception=True)
        lines = board(found, split=asked.validated_data["split"], at=asked.validated_data["at"], viewer=request.user)
        page = self.page_of(lines, found, request)  # asked for or not, one that is not there is not found
        return csv_response(lines, found) if request.accepted_renderer.format == Csv.format else page

    def page_of(self, lines: Board, phase: Phase, request: Request) -> Response:
        team, pages = team_of(request, phase), BoardPages()
        place = lines.place_of(team.pk) if team else None
        mine = None if place is None else with_ties(lines, place, place + 1)[0]
        page = pages.paginate_queryset(lines.rows, request, view=self) or []
        start = lines.rows.index(page[0]) if page else 0
        rows = with_ties(lines, start, start + len(page))
        whole: dict[str, Any] = {
            "split": lines.split,
            "signature": lines.signature,
            "at": BoardSerializer().fields["at"].to_representation(lines.at),
            "me": RowSerializer(mine).data if mine else None,
        }
        return pages.board_response(whole, RowSerializer(rows, many=True).data)


def csv_response(lines: Board, phase: Phase) -> Response:
    metrics = [metric.name for metric in phase.declared_track.metrics]
    name = f"{phase.challenge.slug}-{phase.slug}-{lines.split}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(as_csv(lines, metrics=metrics), headers=headers)
