"""JSON bodies, bounded: in bytes, in depth, and always UTF-8, whatever the request's headers say."""

from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from server.errors import Refused


class BoundedJson(JSONParser):
    def parse(self, stream: IO[Any], media_type: Any = None, parser_context: Any = None) -> dict[str, Any]:
        request = parser_context["request"]
        allowed = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if int(request.META.get("CONTENT_LENGTH") or 0) > allowed:
            raise Refused("file_too_large", f"A JSON body may have {allowed:,} bytes.", allowed_bytes=allowed)
        try:
            return super().parse(stream, media_type, {**parser_context, "encoding": "utf-8"})
        except RecursionError:
            raise ParseError("JSON parse error - nested too deeply") from None
