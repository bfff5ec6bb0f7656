"""A client for resumable uploads that checks every response against the published schema."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from server.accounts.models import User
from server.submissions.upload_handler import upload_folder
from tests.server.documented import Answer, Api

FILE = b"ImageId,PredictionString\na,\n" * 100
BEGIN = "challenges/detection/phases/main/uploads"
STREAM = "application/offset+octet-stream"


class Tus:
    """A client for tus, the protocol for resumable uploads. It uploads one file at a time as a given user."""

    def __init__(self, api: Api, user: User) -> None:
        self.api, self.user, self.path = api, user, ""

    def begin(self, length: int | str = len(FILE), key: str = "", **about: str) -> Answer:
        pairs = ",".join(f"{name} {b64encode(value.encode()).decode()}" for name, value in about.items())
        headers = {"Upload-Length": str(length), "Upload-Metadata": pairs, "Idempotency-Key": key}
        answer = self.ask("POST", BEGIN, headers)
        self.path = answer.headers.get("Location", "").removeprefix("http://testserver")
        return answer

    def patch(self, offset: int, data: bytes = b"") -> Answer:
        headers = {"Upload-Offset": str(offset)}
        return self.ask("PATCH", self.path, headers, data=data, content_type=STREAM)

    def head(self) -> Answer:
        return self.ask("HEAD", self.path, {})

    def state(self) -> dict[str, Any]:
        return dict(self.api.get(self.path, user=self.user).json())

    def ask(self, method: str, path: str, headers: dict[str, str], **options: Any) -> Answer:
        given = {"Tus-Resumable": "1.0.0", **{name: value for name, value in headers.items() if value}}
        return self.api.ask(method, path, user=self.user, headers=given, **options)


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def folders() -> list[Path]:
    return [*upload_folder().iterdir()]


@pytest.fixture
def tus(api: Api, member: User) -> Tus:
    """Return a client for resumable uploads by the user `member`: `tus.begin()`, then `tus.patch(offset, data)`."""
    return Tus(api, member)
