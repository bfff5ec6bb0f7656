"""Completes the generated OpenAPI schema: adds error responses, input rules, summaries and examples."""

from collections import defaultdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from server.api.errors import MEDIA_TYPE, STATUS_OF_HTTP_CODE
from server.api.examples import example_of
from server.errors import STATUS_OF_CODE

ON_EVERY_ROUTE = ("unauthenticated", "forbidden", "not_acceptable", "invalid", "maintenance", "server_error")
WITH_A_BODY = ("unsupported_media_type", "file_too_large")
COUNTED = ("rate_limited",)
PAGE = OpenApiParameter("page", OpenApiTypes.INT, description="page number, starting at 1")


class ProblemSerializer(serializers.Serializer[Any]):
    """A problem document (RFC 9457).

    Clients match on `code`, and `detail` explains what to do. For some codes, the document has additional members.
    """

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="messages by field, if the code is `invalid`",
    )
    next_allowed_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="when you can submit again, if the code is `quota_exhausted`"
    )
    request_id = serializers.CharField(required=False, help_text="the ID to quote when you report a `server_error`")


def refusals(*codes: str) -> dict[Any, OpenApiResponse]:
    """Return the OpenAPI error responses for the given error codes and for the codes that every route can return."""
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in (*ON_EVERY_ROUTE, *codes):
        by_status[STATUS_OF_CODE.get(code) or STATUS_OF_HTTP_CODE[code]].append(code)
    return {
        (status, MEDIA_TYPE): OpenApiResponse(ProblemSerializer, description=" or ".join(f"`{code}`" for code in same))
        for status, same in sorted(by_status.items())
    }


def add_input_rules(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Declare in the OpenAPI schema that query parameters can be empty and that unknown body fields are invalid."""
    for operations in result["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "query":
                    parameter["allowEmptyValue"] = True
    for name, component in result["components"]["schemas"].items():
        if name.endswith("Request"):
            component["additionalProperties"] = False
    return result


def add_summaries_and_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add a summary and examples of JSON bodies to each operation in the OpenAPI schema.

    The summary is the first sentence of the operation's description.
    """
    components = result["components"]["schemas"]
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["summary"] = operation["description"].partition("\n")[0].partition(". ")[0].removesuffix(".")
            success = [answer for status, answer in operation["responses"].items() if int(status) < 300]
            for body in [operation.get("requestBody", {}), *success]:
                if json_body := body.get("content", {}).get("application/json"):
                    json_body["example"] = example_of(json_body["schema"], components)
    return result
