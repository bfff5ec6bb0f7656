"""Log lines are JSON objects with the id of their request or submission, and contain no paths and no file names."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluator import scoring
from evaluator.problems import Findings, InvalidSubmission, Problem
from server import logs
from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.submissions.models import Submission
from tests.conftest import InlineQueue

Lines = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """Return a function that returns the parsed log lines with the given message or, by default, all lines."""
    output, root = StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(output), root.level
    handler.setFormatter(logs.JsonFormatter())
    root.addHandler(handler)
    root.setLevel(logging.INFO)

    def read(message: str = "") -> list[dict[str, Any]]:
        found = [json.loads(line) for line in output.getvalue().splitlines()]
        return [line for line in found if message in ("", line["message"])]

    yield read
    root.removeHandler(handler)
    root.setLevel(level)


def test_a_line_has_its_time_its_fields_and_those_of_its_block(lines: Lines) -> None:
    with logs.bound(request="abc"), logs.bound(submission="x"):
        logging.getLogger("a.b").info("read %d rows", 3, extra={"ms": 1.5})
    logging.getLogger("a.b").warning("später")
    first, second = lines()
    assert first.pop("at").endswith("Z")
    expected = {"level": "INFO", "logger": "a.b", "message": "read 3 rows"}
    assert first == {**expected, "request": "abc", "submission": "x", "ms": 1.5}
    assert {"request", "submission"} & second.keys() == set()
    assert second["message"] == "später"


def test_a_traceback_is_a_field_of_one_line(lines: Lines) -> None:
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("a").exception("it failed")
    (line,) = lines()
    assert line["traceback"].startswith("Traceback")
    assert "ValueError: no" in line["traceback"]


def test_a_line_on_a_terminal_is_text() -> None:
    record = logging.makeLogRecord({"msg": "sent", "name": "a", "levelname": "INFO", "task": "evaluate"})
    with logs.bound(submission="x"):
        assert logs.TextFormatter().format(record).endswith("INFO a sent submission=x task=evaluate")


def test_lines_are_text_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(logs.formatter(), logs.JsonFormatter)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(logs.formatter(), logs.TextFormatter)


@pytest.mark.django_db
def test_a_request_is_one_line_with_route_status_and_time(client: Client, lines: Lines) -> None:
    answer = client.get("/api/v1/challenges/secret-name", headers={"X-Request-Id": "proxy-1.a"})
    (line,) = lines("request")
    assert answer["X-Request-Id"] == line["request"] == "proxy-1.a"
    assert (line["method"], line["route"], line["status"]) == ("GET", "api/v1/challenges/<slug:slug>", 404)
    assert line["user"] is None
    assert line["ms"] > 0
    assert "secret-name" not in json.dumps(lines())


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, 'a"}', "ü", "a,b"])
def test_an_unusual_request_id_is_replaced(given, client: Client, db: None) -> None:
    answer = client.get("/livez", headers={"X-Request-Id": given})
    assert answer["X-Request-Id"] != given
    assert len(answer["X-Request-Id"]) == 12


def test_the_line_of_a_request_has_the_user(client: Client, member: User, lines: Lines) -> None:
    client.get("/submissions/")
    (line,) = lines("request")
    assert line["user"] == member.pk


def test_a_failed_request_is_logged_without_its_path(client: Client, lines: Lines) -> None:
    record = logging.makeLogRecord({"msg": "%s: %s", "args": ("Internal Server Error", "/reset/secret-key/")})
    assert logs.WithoutPath().filter(record)
    assert record.getMessage() == "Internal Server Error: unknown route"


def test_the_stages_of_a_submission_have_its_id_and_no_file_name(
    client: Client,
    phase: Phase,
    team: Team,
    inline_queue: InlineQueue,
    lines: Lines,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reject(request: object) -> None:
        raise InvalidSubmission(Findings.of(Problem("empty", "the file is empty")))

    monkeypatch.setattr(scoring, "score", reject)
    url = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/submissions"
    with django_capture_on_commit_callbacks(execute=True):
        upload = SimpleUploadedFile("hidden-name.csv", b"ImageId,PredictionString\na,\n")
        assert client.post(url, {"file": upload}).status_code == 201
    with django_capture_on_commit_callbacks(execute=True):
        inline_queue.work()
    key = str(Submission.objects.get().pk)
    told = [line["message"] for line in lines() if line.get("submission") == key]
    assert told[0] == "submission received"
    assert {"claimed", "submission ended", "attempt ended"} <= set(told)
    assert "hidden-name" not in json.dumps(lines())
