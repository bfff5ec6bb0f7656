"""The API view for the history of a leaderboard: the scores and ranks of teams over time."""

from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.api.lookup import phase_at
from server.api.schema import COUNTED, refusals
from server.api.serializers.leaderboard import HistoryQuery, HistorySerializer
from server.clock import next_whole_second, time_text
from server.leaderboards.queries import BoardRow, ShownBoard, board
from server.leaderboards.timeline import Timeline, content_of_ranks, timeline_of
from server.leaderboards.validators import entity_tag, not_modified, tagged

TOP = 10


class LeaderboardHistory(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="read_leaderboard_history",
        parameters=[HistoryQuery],
        responses={200: HistorySerializer, **refusals("not_found", *COUNTED)},
    )
    def get(self, request: Request, slug: str, phase: str) -> HttpResponseBase:
        """List the changes in score and rank of the first ten teams on a leaderboard, or of one team."""
        found = phase_at(request, slug, phase)
        query = HistoryQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        shown = board(found, split=query.validated_data["split"], viewer=request.user)
        # The ranks come from a cache that can be a minute old, so the entity tag depends on the cached state.
        tag = entity_tag(shown, request.build_absolute_uri(), found.shown_from, content_of_ranks(shown))
        return not_modified(request, tag) or tagged(answer(shown, query.validated_data["team"]), tag)


def answer(shown: ShownBoard, team: str | None) -> Response:
    named = shown.row_named(team) if team else None
    if team and named is None:
        raise Http404
    rows = [named] if named else shown.top(TOP)
    found = timeline_of(shown, [row.team_id for row in rows], with_ranks=True)
    return Response({"split": shown.split, "results": [history_json(row, found) for row in rows]})


def history_json(row: BoardRow, found: Timeline) -> dict[str, Any]:
    """Return a team's history as a dict, with a point for each time at which the team's score or rank changed."""
    points = found.points[row.team_id]
    changes = [
        {"at": time_text(next_whole_second(moment)), "score": point and point.score, "rank": point and point.rank}
        for moment, before, point in zip(found.moments, [None, *points], points, strict=False)
        if point != before
    ]
    return {"team": row.team, "points": changes}
