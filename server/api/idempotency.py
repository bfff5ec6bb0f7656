"""Support for the Idempotency-Key header, which lets a client repeat an upload without submitting the file twice."""

import re

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from server.errors import Refused

FORM = re.compile(r"[!-~]{0,80}")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": 80, "pattern": "^[!-~]*$"},
    OpenApiParameter.HEADER,
    description="any string; choose a new one for each submission, and use the same one when you repeat a request",
)


def idempotency_key(request: Request) -> str:
    """Return the value of a request's Idempotency-Key header, or an empty string if there is none.

    Raises Refused if the value is not valid.
    """
    key = request.headers.get("Idempotency-Key", "")
    if not FORM.fullmatch(key):
        raise Refused("invalid", "An Idempotency-Key can have at most 80 visible ASCII characters, without spaces.")
    return key
