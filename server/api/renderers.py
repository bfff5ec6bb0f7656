"""CSV beside JSON, and how a program asks for it: `?format=` or an Accept header."""

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


class ToldOrAccepted(DefaultContentNegotiation):
    """As Django REST framework does it, but a format that does not exist is wrong input, not a missing page.

    What an address can (OPTIONS) is told in its first format only: the others are for its own content.
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
            known = " and ".join(renderer.format for renderer in offered)
            raise Refused("invalid", f"format: {format!r} is not what this address offers, which is {known}.") from None
