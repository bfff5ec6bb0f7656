"""The headers of tus 1.0.0, a protocol for resumable uploads (https://tus.io/protocols/resumable-upload)."""

import re
from base64 import b64decode
from typing import Any

from django.conf import settings
from django.utils.http import http_date
from drf_spectacular.utils import OpenApiParameter
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from server.errors import Refused
from server.submissions.partial_uploads import PartialUpload

VERSION = "1.0.0"
METADATA_CHARACTERS = 4096
NUMBER = re.compile(r"[0-9]{1,18}")


def header(name: str, schema: dict[str, Any], description: str, *, required: bool = True) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.HEADER, required=required, description=description)


SIZE = {"type": "integer", "minimum": 0}
TUS_RESUMABLE = header("Tus-Resumable", {"type": "string", "enum": [VERSION]}, "version of the protocol")
UPLOAD_LENGTH = header("Upload-Length", SIZE, "size of the file in bytes")
UPLOAD_OFFSET = header("Upload-Offset", SIZE, "number of bytes that the server has received")
UPLOAD_METADATA = header(
    "Upload-Metadata",
    {"type": "string"},
    "comma-separated pairs of a key and a base64-encoded value: `filename`, `note`, and `force` with the value true",
    required=False,
)


class OffsetStreamParser(BaseParser):
    """A parser that passes the request body to the view as an unread stream.

    The view reads the stream only after it has looked up the upload and its offset.
    """

    media_type = "application/offset+octet-stream"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        return stream


def check_version(request: Request) -> None:
    if request.headers.get("Tus-Resumable") != VERSION:
        raise Refused("unsupported_version", f"Send the header Tus-Resumable: {VERSION}.", supported=VERSION)


def number_in(request: Request, name: str) -> int:
    value = request.headers.get(name, "")
    if not NUMBER.fullmatch(value):
        raise Refused("invalid", f"The header {name} must be a number of bytes.")
    return int(value)


def metadata_in(request: Request) -> dict[str, str]:
    """Return the decoded key-value pairs in the Upload-Metadata header of a request."""
    given = request.headers.get("Upload-Metadata", "")
    if len(given) > METADATA_CHARACTERS:
        raise Refused("invalid", f"The Upload-Metadata header can have at most {METADATA_CHARACTERS:,} characters.")
    try:
        pairs = [pair.strip().partition(" ") for pair in given.split(",") if pair.strip()]
        return {key: b64decode(value, validate=True).decode() for key, _, value in pairs}
    except ValueError:
        detail = "The Upload-Metadata header must contain comma-separated pairs of a key and a base64-encoded value."
        raise Refused("invalid", detail) from None


def capabilities() -> dict[str, str]:
    return {
        "Tus-Version": VERSION,
        "Tus-Extension": "creation,expiration,termination",
        "Tus-Max-Size": str(settings.UPLOAD_MAX_BYTES),
    }


def headers_of(upload: PartialUpload) -> dict[str, str]:
    return {
        "Tus-Resumable": VERSION,
        "Upload-Offset": str(upload.offset),
        "Upload-Length": str(upload.length),
        "Upload-Expires": http_date(upload.expires_at.timestamp()),
        "Cache-Control": "no-store",
    }
