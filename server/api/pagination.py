"""Lists by pages: `count`, `next`, `previous` (absolute addresses), `results`."""

from typing import Any

from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response


class Pages(PageNumberPagination):
    page_size = 50
    invalid_page_message = "There is no such page. Start at page 1 and follow `next`."

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """As OpenAPI 3.1 says null; the framework's own is of 3.0."""
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {"count": {"type": "integer"}, "next": address, "previous": address, "results": schema},
        }


class BoardPages(Pages):
    """Pages of a leaderboard, with what belongs to the whole board before them."""

    page_size = 100

    def board_response(self, board: dict[str, Any], results: Any) -> Response:
        listing = self.get_paginated_response(results).data
        rows = listing.pop("results")
        return Response({**board, **listing, "results": rows})
