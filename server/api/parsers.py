"""The parser for JSON in the bodies of API requests."""

from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class Utf8JsonParser(JSONParser):
    """A parser that reads JSON as UTF-8 regardless of the headers, and rejects JSON that is nested too deeply.

    The size of the body is not checked here, because `BodySizeMiddleware` has already checked it.
    """

    def parse(self, stream: IO[Any], media_type: Any = None, parser_context: Any = None) -> dict[str, Any]:
        try:
            return super().parse(stream, media_type, {**parser_context, "encoding": "utf-8"})
        except RecursionError:
            raise ParseError("JSON parse error - nested too deeply") from None
