"""A test client for the API that checks every response against the published schema."""

import json
import re
from functools import cache
from typing import Any

from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator

from server.accounts.models import ApiToken, User
from server.accounts.services import issue_token

Answer = Any  # A response of the test client. The type stubs do not declare its `json` method.


@cache
def schema() -> dict[str, Any]:
    return dict(SchemaGenerator().get_schema(request=None, public=True))


def operation(method: str, path: str) -> dict[str, Any] | None:
    """Return the operation that the schema documents for the given method and path, or None."""
    for template, operations in schema()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", r"[^/]+", template), path):
            found: dict[str, Any] | None = operations.get(method.lower())
            return found
    return None


def content_of(answer: Answer) -> bytes:
    """Return the whole body of a response, even if it is streamed."""
    return b"".join(answer.streaming_content) if answer.streaming else bytes(answer.content)


def assert_documented(method: str, path: str, answer: Answer) -> None:
    documented = operation(method, path.partition("?")[0])
    if documented is None:
        return
    status, media = str(answer.status_code), answer.headers.get("Content-Type", "").partition(";")[0]
    assert status in documented["responses"], f"{method} {path}: {status} is not documented: {answer.content!r}"
    if answer.status_code == 204:
        assert not answer.content
        return
    content = documented["responses"][status]["content"]
    assert media in content, f"{method} {path}: {media} is not documented for {status}"
    if media.endswith("json"):
        shape = {**content[media]["schema"], "components": schema()["components"]}
        Draft202012Validator(shape).validate(answer.json())


class Api:
    """A client for the API. `api.get("challenges", user=user)` sends a request with a token of the user."""

    def __init__(self) -> None:
        schema()  # Generate and cache the OpenAPI schema now, before a test replaces a view.
        self.secrets: dict[tuple[int, str], str] = {}

    def secret(self, user: User, scope: str = ApiToken.Scope.SUBMIT) -> str:
        if (user.pk, scope) not in self.secrets:
            self.secrets[user.pk, scope] = issue_token(user=user, name="test", scope=scope, days=1)[1]
        return self.secrets[user.pk, scope]

    def ask(self, method: str, path: str, *, user: User | None = None, scope: str = "submit", **options: Any) -> Answer:
        client = Client(raise_request_exception=False)
        headers = options.pop("headers", {})
        if user is not None:
            headers = {"Authorization": f"Bearer {self.secret(user, scope)}", **headers}
        path = path if path.startswith("/") else f"/api/v1/{path}"
        answer = client.generic(method, path, headers=headers, **options)
        assert_documented(method, path, answer)
        return answer

    def get(self, path: str, **options: Any) -> Answer:
        return self.ask("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.send("POST", path, body, **options)

    def patch(self, path: str, body: Any, **options: Any) -> Answer:
        return self.send("PATCH", path, body, **options)

    def send(self, method: str, path: str, body: Any, **options: Any) -> Answer:
        data = "" if body is None else body if isinstance(body, str | bytes) else json.dumps(body)
        return self.ask(method, path, data=data, **{"content_type": "application/json", **options})

    def upload(
        self,
        path: str,
        *,
        file: bytes | None,
        name: str = "p.csv",
        note: str = "",
        reveal: str = "",
        force: str = "",
        **options: Any,
    ) -> Answer:
        texts = {"note": note, "reveal": reveal, "force": force}
        parts = [part(f'name="{field}"'.encode(), text.encode()) for field, text in texts.items() if text]
        if file is not None:
            parts.append(part(f'name="file"; filename="{name}"'.encode(), file))
        body = b"".join([*parts, b"--boundary--\r\n"])
        return self.ask("POST", path, data=body, content_type="multipart/form-data; boundary=boundary", **options)


def part(disposition: bytes, content: bytes) -> bytes:
    return b"--boundary\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\n" + content + b"\r\n"
