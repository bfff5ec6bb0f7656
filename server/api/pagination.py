"""Lists by pages: `count`, `next`, `previous` (absolute addresses), `results`."""

from typing import Any

from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response


class Pages(PageNumberPagination):
    page_size = 50
    invalid_page_message = "There is no such page. Pages are numbered from 1; start there and follow `next`."


class BoardPages(Pages):
    """Pages of a leaderboard, with what belongs to the whole board before them."""

    page_size = 100

    def board_response(self, board: dict[str, Any], results: Any) -> Response:
        listing = self.get_paginated_response(results).data
        rows = listing.pop("results")
        return Response({**board, **listing, "results": rows})
