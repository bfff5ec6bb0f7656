"""A fake Podium server, and a function that runs commands of the `podium` client against this server."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from evaluator.cli.usage import Parser
from evaluator.client import accounts, challenges, files, leaderboards, submissions, teams
from evaluator.client.http import Api

SERVER = "https://podium.test"
VERBS = accounts.VERBS | challenges.VERBS | files.VERBS | leaderboards.VERBS | submissions.VERBS | teams.VERBS
ID = "00000000-0000-4000-8000-000000000001"
PHASE = {"slug": "main", "title": "Main", "track": "objectnet", "headline": "top1", "open": True, "closes_at": None}
CHALLENGE = {"slug": "cats", "title": "Cats", "opens_at": "2026-01-01T00:00:00Z", "closes_at": None, "phases": [PHASE]}
SUBMISSION: dict[str, Any] = {
    **{"id": ID, "file_name": "p.csv", "status": "scored", "stage": None, "progress": 1.0, "note": "", "failure": None},
    **{"scores": {"public": {"top1": 0.5}}, "intervals": {"public": {"top1": [0.4, 0.6]}}, "rank": 3, "on_board": True},
    **{"why_not": None, "sha256": "", "problems": {"errors": [], "total": 0}, "received_at": "2026-01-01T00:00:00Z"},
}


def page(*results: Any) -> dict[str, Any]:
    return {"count": len(results), "next": None, "previous": None, "results": list(results)}


class FakeServer:
    """A fake server with a table that maps "METHOD path" to JSON, a response, or a function of the request."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {
            "GET challenges": page(CHALLENGE),
            "GET challenges/cats": CHALLENGE,
            f"GET submissions/{ID}": SUBMISSION,
        }
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        name = f"{request.method} {request.url.path.removeprefix('/api/v1/')}"
        answer = self.answers.get(name, refusal(404, "not_found"))
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    def connect(self, server: str, token: str) -> Api:
        return Api(server, token, transport=httpx.MockTransport(self), sleep=self.pauses.append)

    def asked(self) -> list[str]:
        return [f"{one.method} {one.url.path.removeprefix('/api/v1/')}" for one in self.requests]


def refusal(status: int, code: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    return httpx.Response(status, json={"code": code, "detail": f"because of {code}", **more}, headers=headers)


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def run(server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Return a function that runs a command against the fake server and returns its exit code."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PODIUM_SERVER", SERVER)
    monkeypatch.setenv("PODIUM_TOKEN", "podium_secret")

    def begin(name: str, *words: str) -> int:
        parser = Parser(prog=name, description="")
        VERBS[name].declare(parser)
        arguments: Namespace = parser.parse_args(words)
        return VERBS[name].run(arguments, server.connect)

    return begin
