"""The client retries requests while a server is unavailable, resumes uploads, and has an exit code for each outcome."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from evaluator import __version__
from evaluator.client import uploading
from tests.evaluator.client.conftest import CHALLENGE, ID, PHASE, SERVER, SUBMISSION, FakeServer, refusal

UPLOADS = "challenges/cats/phases/main/uploads"
UPLOAD = f"uploads/{ID}"


class Tus:
    """An endpoint for resumable uploads (tus) on a fake server. The parts numbered in `lost` get no response."""

    def __init__(self, server: FakeServer, *lost: int, **last: Any) -> None:
        self.received, self.length, self.parts, self.lost = bytearray(), 0, 0, lost
        self.server, self.last, self.metadata = server, last, ""
        server.answers |= {f"POST {UPLOADS}": self.begin, f"GET {UPLOAD}": self.state, f"PATCH {UPLOAD}": self.append}
        server.answers[f"GET submissions/{ID}"] = self.submission

    def begin(self, request: httpx.Request) -> httpx.Response:
        self.received, self.length = bytearray(), int(request.headers["Upload-Length"])
        self.metadata = request.headers["Upload-Metadata"]
        return httpx.Response(201, json=self.state())

    def state(self, request: Any = None) -> dict[str, Any]:
        done = self.parts > 0 and len(self.received) == self.length
        return {"id": ID, "offset": len(self.received), "length": self.length, "submission": ID if done else None}

    def append(self, request: httpx.Request) -> httpx.Response:
        self.parts += 1
        if int(request.headers["Upload-Offset"]) != len(self.received):
            return refusal(409, "wrong_offset")
        if self.parts in self.lost:
            raise httpx.ReadError("cut")
        self.received += request.content
        return httpx.Response(204, headers={"Upload-Offset": str(len(self.received))})

    def submission(self, request: httpx.Request) -> dict[str, Any]:
        return {**SUBMISSION, "sha256": sha256(self.received).hexdigest(), **self.last}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(uploading, "PART_BYTES", 10)
    path = tmp_path / "pré dictions.csv"
    path.write_bytes(b"0123456789" * 5 + b"end")
    return path


def test_a_file_is_uploaded_in_parts(run: Callable[..., int], server: FakeServer, file: Path) -> None:
    tus = Tus(server)
    assert run("submit", "cats", "-f", str(file), "-m", "ein Versuch ∑", "--wait") == 0
    assert (bytes(tus.received), tus.parts) == (file.read_bytes(), 6)
    assert uploading.encoded({"filename": file.name, "note": "ein Versuch ∑"}) == tus.metadata


def test_the_force_option_is_stored_in_the_upload(run: Callable[..., int], server: FakeServer, file: Path) -> None:
    tus = Tus(server)
    assert run("submit", "cats", "-f", str(file), "--force") == 0
    assert uploading.encoded({"filename": file.name, "note": "", "force": "true"}) == tus.metadata


def test_an_upload_continues_after_lost_connections(run: Callable[..., int], server: FakeServer, file: Path) -> None:
    tus = Tus(server, 2, 3, 5)
    assert run("submit", "cats", "-f", str(file)) == 0
    assert (bytes(tus.received), tus.parts) == (file.read_bytes(), 9)
    assert server.asked().count(f"POST {UPLOADS}") == 1


def test_an_interrupted_upload_is_continued_by_the_next_command(
    run: Callable[..., int], server: FakeServer, file: Path
) -> None:
    tus = Tus(server)
    whole = server.answers[f"PATCH {UPLOAD}"]

    def interrupt(request: httpx.Request) -> httpx.Response:
        if tus.parts == 2:
            raise KeyboardInterrupt
        return tus.append(request)

    server.answers[f"PATCH {UPLOAD}"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        run("submit", "cats", "-f", str(file))
    server.answers[f"PATCH {UPLOAD}"] = whole
    assert run("submit", "cats", "-f", str(file)) == 0
    assert (bytes(tus.received), tus.parts) == (file.read_bytes(), 6)
    assert server.asked().count(f"POST {UPLOADS}") == 1


def test_an_upload_that_the_server_has_lost_begins_again(
    run: Callable[..., int], server: FakeServer, file: Path
) -> None:
    tus = Tus(server)
    whole = server.answers[f"PATCH {UPLOAD}"]
    server.answers[f"PATCH {UPLOAD}"] = lambda request: (
        tus.append(request) if not tus.parts else refusal(404, "not_found")
    )
    server.answers[f"GET {UPLOAD}"] = refusal(404, "not_found")

    def begin(request: httpx.Request) -> httpx.Response:
        if tus.parts:
            server.answers |= {f"PATCH {UPLOAD}": whole, f"GET {UPLOAD}": tus.state}
        return tus.begin(request)

    server.answers[f"POST {UPLOADS}"] = begin
    assert run("submit", "cats", "-f", str(file)) == 0
    assert bytes(tus.received) == file.read_bytes()


def test_an_empty_file_is_submitted(run: Callable[..., int], server: FakeServer, file: Path) -> None:
    file.write_bytes(b"")
    tus = Tus(server)
    assert run("submit", "cats", "-f", str(file)) == 0
    assert tus.parts == 1


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    run: Callable[..., int], server: FakeServer, file: Path
) -> None:
    phase = {**PHASE, "limits": {"upload_bytes": 52}}
    server.answers["GET challenges/cats"] = {**CHALLENGE, "phases": [phase]}
    assert run("submit", "cats", "-f", str(file)) == 4
    assert server.asked() == ["GET challenges/cats"]


def test_it_is_an_error_if_the_server_has_received_different_bytes(
    run: Callable[..., int], server: FakeServer, file: Path
) -> None:
    Tus(server, sha256="0" * 64)
    assert run("submit", "cats", "-f", str(file)) != 0


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ({"status": "scored"}, 0),
        ({"status": "rejected", "scores": {}, "problems": {"errors": [{"code": "c", "message": "m"}], "total": 1}}, 2),
        ({"status": "failed", "scores": {}, "failure": "too slow"}, 5),
        ({"status": "cancelled", "scores": {}}, 5),
    ],
)
def test_the_exit_code_depends_on_how_a_submission_ended(
    run: Callable[..., int], server: FakeServer, file: Path, last: dict[str, Any], code: int
) -> None:
    Tus(server, **last)
    assert run("submit", "cats", "-f", str(file), "--wait") == code


def test_the_client_keeps_waiting_during_an_outage(run: Callable[..., int], server: FakeServer) -> None:
    queued = {**SUBMISSION, "status": "queued"}
    down = [httpx.ConnectError("refused") for _ in range(6)]
    server.answers[f"GET submissions/{ID}"] = [queued, *down, httpx.Response(502), SUBMISSION]
    assert run("submission", ID, "--wait") == 0
    assert len(server.requests) == 9


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(409, "phase_closed"), 4),
        (refusal(409, "duplicate_file"), 4),
        (refusal(413, "file_too_large"), 4),
        (refusal(429, "quota_exhausted", next_allowed_at="2026-01-02T00:00:00Z"), 75),
        (refusal(429, "quota_exhausted", next_allowed_at=None), 4),
        (refusal(507, "no_space"), 75),
        (refusal(429, "rate_limited", {"Retry-After": "86400"}), 75),
        (httpx.ConnectError("refused"), 75),
        (httpx.Response(503, text="<html>"), 75),
        (httpx.Response(200, text="<html>not Podium"), 64),
    ],
)
def test_the_exit_code_shows_whether_to_try_again(
    run: Callable[..., int], server: FakeServer, file: Path, answer: Any, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers[f"POST {UPLOADS}"] = answer
    assert run("submit", "cats", "-f", str(file), "--json") == code
    assert json.loads(capsys.readouterr().out)["error"]["detail"]


@pytest.mark.parametrize(("token", "reason"), [("podium_secret", "does not accept your token"), ("", "not logged in")])
def test_a_wrong_or_missing_token_is_explained(
    token: str,
    reason: str,
    run: Callable[..., int],
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PODIUM_TOKEN", token)
    server.answers["GET me"] = refusal(401, "unauthenticated")
    assert run("whoami") == 4
    said = capsys.readouterr().err
    assert reason in said
    assert f"podium login {SERVER}" in said


@pytest.mark.parametrize(
    ("words", "request_of_it", "answer", "advice"),
    [
        (
            ("quota", "cats"),
            "GET challenges/cats/phases/main/quota",
            refusal(403, "not_a_member"),
            "run `podium join cats`",
        ),
        (("submission", ID), f"GET submissions/{ID}", refusal(404, "not_found"), "`podium submissions` lists yours"),
        (
            ("submit", "cats", "-f", "FILE"),
            f"POST {UPLOADS}",
            refusal(409, "duplicate_file", submission=ID),
            f"{SERVER}/submissions/{ID}/",
        ),
    ],
)
def test_a_refusal_names_the_command_or_page_that_helps(
    words: tuple[str, ...],
    request_of_it: str,
    answer: Any,
    advice: str,
    run: Callable[..., int],
    server: FakeServer,
    file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.answers[request_of_it] = answer
    assert run(*(str(file) if word == "FILE" else word for word in words)) == 4
    assert advice in capsys.readouterr().err


def test_on_a_terminal_a_repeated_request_is_announced_once(
    run: Callable[..., int], server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["GET me"] = httpx.ConnectError("refused")
    for on_terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda is_it=on_terminal: is_it)
        assert run("whoami") == 75
        assert capsys.readouterr().err.count("trying again") == on_terminal


def test_an_interrupted_wait_explains_how_to_wait_again(
    run: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(request: httpx.Request) -> None:
        raise KeyboardInterrupt

    server.answers[f"GET submissions/{ID}"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        run("submission", ID, "--wait")
    assert f"`podium submission {ID} --wait`" in capsys.readouterr().err


def test_pauses_between_attempts_grow_and_attempts_are_limited(run: Callable[..., int], server: FakeServer) -> None:
    server.answers["GET me"] = httpx.ConnectError("refused")
    assert run("whoami") == 75
    assert 3 <= len(server.pauses) <= 6
    assert server.pauses == sorted(server.pauses)
    assert sum(server.pauses) <= 15


def test_the_client_pauses_as_long_as_the_server_requests(run: Callable[..., int], server: FakeServer) -> None:
    me = {"username": "ada", "token": {"name": "t", "scope": "read", "expires_at": "x"}}
    server.answers["GET me"] = [refusal(429, "rate_limited", {"Retry-After": "7"}), me]
    assert run("whoami") == 0
    assert server.pauses == [7]


@pytest.mark.parametrize(
    ("step", "told"), [(0, False), (1, False), (-1, False), (2, True), (-2, True)], ids=lambda value: str(value)
)
def test_a_server_more_than_one_version_away_is_mentioned(
    run: Callable[..., int], server: FakeServer, step: int, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    major, minor = (int(number) for number in __version__.split(".")[:2])
    theirs = f"{major}.{minor + step}.0" if minor + step >= 0 else f"{major - 1}.9.0"
    if (minor + step < 0) and not told:
        pytest.skip("there is no such version")
    server.answers["GET challenges"] = httpx.Response(
        200, json={"next": None, "results": []}, headers={"Podium-Version": theirs}
    )
    assert run("challenges") == 0
    assert ("the server runs podium" in capsys.readouterr().err) == told
    assert server.requests[0].headers["User-Agent"] == f"podium/{__version__}"


def test_text_of_the_server_cannot_control_the_terminal(
    run: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["GET challenges"] = {"next": None, "results": [{"slug": "a", "title": "\x1b[2J\u202eevil"}]}
    assert run("challenges") == 0
    assert "\x1b" not in capsys.readouterr().out
