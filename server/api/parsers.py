"""JSON bodies: always UTF-8, whatever the request's headers say, and never deeper than Python can follow."""

from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class PlainJson(JSONParser):
    """How many bytes it may have is Django's `DATA_UPLOAD_MAX_MEMORY_SIZE`, checked before."""

    def parse(self, stream: IO[Any], media_type: Any = None, parser_context: Any = None) -> dict[str, Any]:
        try:
            return super().parse(stream, media_type, {**parser_context, "encoding": "utf-8"})
        except RecursionError:
            raise ParseError("JSON parse error - nested too deeply") from None
