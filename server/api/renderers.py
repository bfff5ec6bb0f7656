"""CSV responses of the API, requested by `?format=csv` or by an Accept header."""

from collections.abc import Iterable
from typing import Any

from django.http import Http404
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from server.errors import Refused


class Csv(BaseRenderer):
    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: str, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return data.encode()


class FormatNegotiation(DefaultContentNegotiation):
    """Content negotiation that raises Refused for an unknown `format`, where Django REST framework raises Http404.

    The response to an OPTIONS request always uses the view's first format, because the other renderers cannot render
    its content.
    """

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        offered = list(renderers)[:1] if request.method == "OPTIONS" else renderers
        return super().select_renderer(request, offered, format_suffix)

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:
        offered = list(renderers)
        try:
            return super().filter_renderers(offered, format)
        except Http404:
            known = " or ".join(renderer.format for renderer in offered)
            raise Refused("invalid", f"format: {format!r} is not available for this URL; expected {known}.") from None
