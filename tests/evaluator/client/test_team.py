"""Tests `podium team` against a fake server: its requests, its output and its exit code."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from evaluator.cli.usage import WrongUsage
from tests.evaluator.client.conftest import FakeServer, page, refusal

TEAM, INVITATIONS = "challenges/cats/team", "challenges/cats/invitations"
OWN: dict[str, Any] = {
    **{"id": 1, "team": "Owls", "captain": True, "merges": []},
    "members": [{"user": "ada", "captain": True, "shown": False, "joined_at": "2026-01-01T00:00:00Z"}],
    "invitations": [{"id": 7, "kind": "person", "team": "Owls", "user": "bob", "expires_at": "2026-01-15T00:00:00Z"}],
}
RECEIVED = {"id": 9, "kind": "person", "team": "Crows", "user": "ada", "expires_at": "2026-01-15T00:00:00Z"}


@pytest.fixture
def asked(server: FakeServer, run: Callable[..., int]) -> Callable[..., tuple[int, Any]]:
    """Return a function that runs `podium team cats` with the given arguments.

    The function returns the exit code and the body of the last request.
    """
    server.answers |= {
        f"GET {TEAM}": OWN,
        f"GET {INVITATIONS}": page(RECEIVED),
        f"POST {TEAM}/invitations": {**OWN["invitations"][0], "link": "https://podium.test/invitation/x", "token": "x"},
        f"POST {INVITATIONS}/9": {"accepted": True, "team": "Crows"},
        "GET me": {"username": "a b/c"},
        f"DELETE {TEAM}/members/a b/c": httpx.Response(204),
    }

    def call(*words: str) -> tuple[int, Any]:
        code = run("team", "cats", *words)
        content = server.requests[-1].content if server.requests else b""
        return code, json.loads(content) if content else None

    return call


def test_the_team_its_members_and_invitations_are_shown(asked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked() == (0, None)
    said = capsys.readouterr().out
    assert "Team Owls, and you are its captain" in said
    for line in ("ada\tyes\t2026-01-01T00:00:00Z", "7\tperson\tbob\t2026", "9\tperson\tCrows\t2026"):
        assert line in said
    assert asked("--json")[0] == 0
    assert json.loads(capsys.readouterr().out) == {"team": OWN, "received": [RECEIVED]}


def test_a_person_without_a_team_sees_received_invitations(
    asked: Any, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers[f"GET {TEAM}"] = refusal(403, "not_a_member")
    assert asked()[0] == 0
    said = capsys.readouterr().out
    assert "You have no team" in said
    assert "Crows" in said


@pytest.mark.parametrize(
    ("words", "body", "printed"),
    [
        (("invite", "bob"), {"user": "bob"}, "bob is invited to Owls."),
        (("invite",), {}, "https://podium.test/invitation/x"),
        (("accept", "9"), {"accept": True}, "Accepted. The team is Crows."),
        (("accept", "9", "--accept-rules"), {"accept": True, "accept_rules": True}, "Crows"),
        (("decline", "9"), {"accept": False}, "Declined or withdrawn: Crows."),
    ],
)
def test_an_action_sends_one_request(
    asked: Any, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], body: dict[str, Any], printed: str
) -> None:
    assert asked(*words) == (0, body)
    assert printed in capsys.readouterr().out


def test_leaving_needs_a_confirmation(asked: Any, server: FakeServer) -> None:
    assert asked("leave")[0] == 64
    assert asked("leave", "--yes")[0] == 0
    assert server.requests[-1].method == "DELETE"
    assert server.requests[-1].url.raw_path.endswith(b"/team/members/a%20b%2Fc")


@pytest.mark.parametrize("words", [("accept",), ("accept", "bob"), ("decline", "9x"), ("leave", "bob"), ("show", "9")])
def test_a_wrong_argument_sends_no_change(asked: Any, server: FakeServer, words: tuple[str, ...]) -> None:
    assert asked(*words)[0] == 64
    assert {request.method for request in server.requests} <= {"GET"}


@pytest.mark.parametrize("words", [("expel", "bob"), ("invite", " ")])
def test_an_unknown_action_or_an_empty_name_is_wrong_usage(asked: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(WrongUsage):
        asked(*words)


def test_a_refusal_exits_with_4(asked: Any, server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers[f"POST {TEAM}/invitations"] = refusal(409, "change_refused")
    assert asked("invite", "bob")[0] == 4
    assert "change_refused" in capsys.readouterr().err
