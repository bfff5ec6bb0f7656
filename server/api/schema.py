"""How the published schema speaks of refusals: every route names its codes, once, and gets them all."""

from collections import defaultdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from server.api.errors import MEDIA_TYPE, STATUS_OF_PROTOCOL_CODE
from server.errors import STATUS_OF_CODE

EVERYWHERE = ("unauthenticated", "forbidden", "not_acceptable", "invalid", "maintenance", "server_error")
WITH_A_BODY = ("unsupported_media_type", "file_too_large")
COUNTED = ("rate_limited",)
PAGE = OpenApiParameter("page", OpenApiTypes.INT, description="from 1; follow `next`")


class ProblemSerializer(serializers.Serializer[Any]):
    """RFC 9457. Programs match on `code`; `detail` says what to do. Some codes bring further members."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="with `invalid`: messages by field",
    )
    next_allowed_at = serializers.DateTimeField(required=False, allow_null=True, help_text="with `quota_exhausted`")
    request_id = serializers.CharField(required=False, help_text="with `server_error`")


def refusals(*codes: str) -> dict[Any, OpenApiResponse]:
    """Return the documented responses for these codes and for those that any route may answer."""
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in (*EVERYWHERE, *codes):
        by_status[STATUS_OF_CODE.get(code) or STATUS_OF_PROTOCOL_CODE[code]].append(code)
    return {
        (status, MEDIA_TYPE): OpenApiResponse(ProblemSerializer, description=" or ".join(f"`{code}`" for code in same))
        for status, same in sorted(by_status.items())
    }


def to_the_letter(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add to the published schema what the framework has no words for: an empty parameter counts as none, and what is
    sent has no further fields."""
    for operations in result["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "query":
                    parameter["allowEmptyValue"] = True
    for name, component in result["components"]["schemas"].items():
        if name.endswith("Request"):
            component["additionalProperties"] = False
    return result
