"""Tests each client command against a fake server: its requests, its output and its exit code."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from evaluator.cli import SERVER_COMMANDS, main
from evaluator.client import servers
from tests.evaluator.client.conftest import ID, SERVER, SUBMISSION, VERBS, FakeServer, page

TOKEN = {"name": "t", "scope": "read", "expires_at": "x"}
JOINED = {"challenge": "cats", "team": "T"}


def test_every_command_is_implemented() -> None:
    assert set(SERVER_COMMANDS) == set(VERBS)


@pytest.mark.parametrize("words", [("tracks",), ("score", "--help"), ("check", "--help"), ()])
def test_commands_on_this_machine_import_neither_httpx_nor_rich(words: tuple[str, ...]) -> None:
    code = f"import sys; from evaluator.cli import main; main({list(words)}); sys.stderr.write(' '.join(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"httpx", "rich", "evaluator.client"} & set(ended.stderr.split())


def test_without_arguments_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "server commands:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["submitt"], "submit"),
        (["scor", "x"], "score"),
        (["score", "objectnt"], "objectnet"),
        (["check", "objectnt", "--submission", __file__], "objectnet"),
        (["phases", "cats", "--sever", "x"], "--server"),
    ],
)
def test_a_typo_is_answered_with_a_suggestion(words: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 64
    assert f"Did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "answers", "printed"),
    [
        (
            ("whoami",),
            {"GET me": {"username": "ada", "token": {"name": "t", "scope": "read", "expires_at": "x"}}},
            "ada",
        ),
        (("challenges",), {}, "Cats"),
        (("phases", "cats"), {}, "objectnet"),
        (
            ("join", "cats", "--accept-rules"),
            {"POST challenges/cats/join": {"challenge": "cats", "team": "T"}},
            "team T",
        ),
        (
            ("quota", "cats"),
            {
                "GET challenges/cats/phases/main/quota": {
                    **{"left": 2, "per_day": 5, "resets_at": "midnight", "total": 9, "total_left": 4},
                    **{"reason": None, "next_allowed_at": None},
                }
            },
            "2 of 5",
        ),
        (("submissions", "cats"), {"GET challenges/cats/phases/main/submissions": page(SUBMISSION)}, "0.50000"),
        (("submission", ID), {}, "public top1 0.50000 (95% interval 0.40000 to 0.60000)"),
        (("open", "cats", "data"), {}, f"{SERVER}/challenges/cats/data"),
        (
            ("leaderboard", "cats", "--search", "a&b"),
            {
                "GET challenges/cats/phases/main/leaderboard": page(
                    {"rank": 1, "team": "Owls", "score": 0.7, "interval": [0.6, 0.8], "entries": 2, "submitted_at": "x"}
                )
            },
            "0.60000 to 0.80000",
        ),
    ],
)
def test_a_command_prints_text_or_json(
    words: tuple[str, ...],
    answers: dict[str, Any],
    printed: str,
    run: Callable[..., int],
    server: FakeServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.answers |= answers
    assert run(*words) == 0
    assert printed in capsys.readouterr().out
    assert run(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out)
    assert {request.headers["Authorization"] for request in server.requests} == {"Bearer podium_secret"}


def test_a_leaderboard_is_printed_as_the_csv_of_the_server(
    run: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["GET challenges/cats/phases/main/leaderboard"] = httpx.Response(200, text="rank,team\n1,Owls\n")
    assert run("leaderboard", "cats", "-f", "csv") == 0
    assert capsys.readouterr().out == "rank,team\n1,Owls\n"


def test_downloads_are_written_to_the_folder(run: Callable[..., int], server: FakeServer, tmp_path: Path) -> None:
    base = "GET challenges/cats/phases/main/"
    server.answers |= {base + "template": httpx.Response(200, text="a,b\n"), base + "kit": {"podium_kit": 1}}
    assert run("download", "cats", "--out", str(tmp_path)) == 0
    assert (tmp_path / "cats-main-template.csv").read_text() == "a,b\n"
    assert run("kit", "cats", "--out", str(tmp_path / "k.json")) == 0
    assert json.loads((tmp_path / "k.json").read_text()) == {"podium_kit": 1}


def test_rules_must_be_accepted_explicitly(run: Callable[..., int], server: FakeServer) -> None:
    assert run("join", "cats") == 64
    assert not any(name.startswith("POST") for name in server.asked())


@pytest.mark.parametrize(("status", "said"), [(201, "You have joined"), (200, "You had already joined")])
def test_joining_a_second_time_is_mentioned(
    status: int, said: str, run: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    joined = {"challenge": "cats", "team": "T"}
    server.answers["POST challenges/cats/join"] = httpx.Response(status, json=joined)
    assert run("join", "cats", "--accept-rules") == 0
    assert said in capsys.readouterr().out


def test_the_output_for_a_page_of_a_leaderboard_names_the_next_page(
    run: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["GET challenges/cats/phases/main/leaderboard"] = page() | {"next": "https://podium.test/?page=3"}
    assert run("leaderboard", "cats", "--page", "2") == 0
    assert "--page 3" in capsys.readouterr().err


def test_the_output_for_a_rejected_file_says_that_it_uses_no_quota(
    run: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    notices = [{"code": "pixels", "message": "Are these pixels?", "count": 1}]
    rejected = {"status": "rejected", "problems": {"errors": [], "total": 0, "notices": notices}}
    server.answers[f"GET submissions/{ID}"] = SUBMISSION | rejected
    assert run("submission", ID) == 2
    said = capsys.readouterr().out
    assert "does not count against the quota" in said
    assert "Are these pixels? (once)" in said


def test_an_unknown_challenge_is_answered_with_a_suggestion(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("phases", "cast") == 64
    assert "Did you mean cats?" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../me", "a/b", "a?b=c", "%2e%2e", ""])
def test_a_name_never_changes_the_path_of_a_request(run: Callable[..., int], server: FakeServer, name: str) -> None:
    assert run("phases", name) == 64
    assert server.asked() == ["GET challenges"]


def test_tokens_are_stored_for_each_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("PODIUM_TOKEN", raising=False)
    servers.remember("https://a.test", "one")
    servers.remember("https://b.test/../x", "two")
    assert [servers.token_of(name) for name in ("https://a.test", "https://b.test/../x", "https://c.test")] == [
        *("one", "two"),
        "",
    ]
    assert len(os.listdir(tmp_path / "podium" / "tokens")) == 2
