"""Converts the operations in the OpenAPI schema to the data shown on the API documentation page."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from drf_spectacular.generators import SchemaGenerator

JSON = "application/json"
METHODS_WITHOUT_OPTION = ("GET",)
IN_PATH = {
    "slug": "the slug of the challenge, as in the URLs of its pages",
    "phase": "the slug of the phase",
    "submission_id": "the `id` of a submission",
    "upload_id": "the `id` of an upload",
    "request_id": "the `id` of a request to join",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """An API operation as the documentation page shows it, with a curl command and an example response.

    `parameters` contains triples (name, location, meaning), and `statuses` contains pairs (status, meaning).
    """

    name: str
    method: str
    path: str
    summary: SafeString
    description: SafeString
    is_public: bool
    parameters: list[tuple[str, str, SafeString]]
    command: str
    response: str
    statuses: list[tuple[str, SafeString]]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the API documentation page, with all operations on one kind of resource."""

    title: str
    operations: list[Operation]


@cache
def sections() -> list[Section]:
    """Return all API operations, grouped into sections by their tag in the OpenAPI schema."""
    found: dict[str, list[Operation]] = {}
    for path, methods in SchemaGenerator().get_schema(request=None, public=True)["paths"].items():
        for method, body in methods.items():
            found.setdefault(body["tags"][0], []).append(operation(path, method.upper(), body))
    return [Section(title.capitalize(), operations) for title, operations in found.items()]


def operation(path: str, method: str, body: Mapping[str, Any]) -> Operation:
    success = [(status, answer) for status, answer in body["responses"].items() if int(status) < 300]
    examples = [content["example"] for _, answer in success for content in contents(answer) if "example" in content]
    return Operation(
        name=body["operationId"],
        method=method,
        path=path,
        summary=with_code(body["summary"]),
        description=with_code(body["description"].removeprefix(body["summary"]).lstrip(".").strip()),
        is_public={} in body["security"],
        parameters=[
            (one["name"], one["in"], with_code(one.get("description") or IN_PATH.get(one["name"], "")))
            for one in body.get("parameters", ())
        ],
        command=command(path, method, body),
        response=json.dumps(examples[0], indent=2) if examples else "",
        statuses=[
            (status, with_code(answer["description"] or "success")) for status, answer in body["responses"].items()
        ],
    )


def contents(answer: Mapping[str, Any]) -> Iterator[Any]:
    yield from answer.get("content", {}).values()


def command(path: str, method: str, body: Mapping[str, Any]) -> str:
    """Return a curl command that calls an API operation. Path parameters in its URL are written in capitals."""
    words = ["curl"]
    if method not in METHODS_WITHOUT_OPTION:
        words.append(f"-X {method}")
    if {} not in body["security"]:
        words.append('-H "Authorization: Bearer $PODIUM_TOKEN"')
    for kind, content in body.get("requestBody", {}).get("content", {}).items():
        if kind == JSON:
            words += [f'-H "Content-Type: {JSON}"', f"-d '{json.dumps(content['example'])}'"]
        elif kind.startswith("multipart/"):
            words.append("-F file=@predictions.csv")
        else:
            words += [f'-H "Content-Type: {kind}"', "--data-binary @part"]
    address = re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), path)
    return " \\\n    ".join([*words, f"{settings.PODIUM_URL}{address}"])


def with_code(text: str) -> SafeString:
    """Convert plain text to HTML. Parts in backticks become `code` elements.

    >>> with_code("send `file` & wait")
    'send <code>file</code> &amp; wait'
    """
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))
