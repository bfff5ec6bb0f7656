"""Pagination of API responses, which have the fields `count`, `next`, `previous` and `results`."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response

from server.leaderboards.queries import PAGE_ROWS


class Pages(PageNumberPagination):
    page_size = 50
    invalid_page_message = "There is no such page. Start with page 1 and follow the `next` links."

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of a page of results.

        Django REST framework marks nullable fields with `nullable`, which OpenAPI 3.1 no longer supports. The schema of
        this API uses OpenAPI 3.1, where "null" is one of the types of a field.
        """
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {"count": {"type": "integer"}, "next": address, "previous": address, "results": schema},
        }


def list_response(rows: QuerySet[Any] | Sequence[Any], request: Request, serialize: Callable[[Any], Any]) -> Response:
    """Return a response with the requested page of a list. `serialize` converts the rows of the page to JSON data."""
    pages = Pages()
    page = pages.paginate_queryset(rows, request) or []
    return pages.get_paginated_response(serialize(page))


class BoardPages(Pages):
    """Pagination of leaderboards in the API.

    In a response, the fields that describe the whole leaderboard come before the fields that describe the page.
    """

    page_size = PAGE_ROWS

    def board_response(self, board: dict[str, Any], results: Any) -> Response:
        listing = self.get_paginated_response(results).data
        rows = listing.pop("results")
        return Response({**board, **listing, "results": rows})
