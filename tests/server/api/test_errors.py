"""Every error response of the API is a JSON problem document with an error code."""

import logging
from collections.abc import Callable
from errno import ENOSPC
from itertools import product
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.test import Client
from pytest_django import Settings

from server.api.views.challenges import ChallengeDetail
from server.challenges.models import Challenge
from server.wsgi import application
from tests.conftest import Make
from tests.server.documented import Api

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW")
ADDRESSES = (
    "",
    "nothing",
    "challenges/",
    "challenges",
    "challenges/UPPER_case-1",
    "challenges/%00",
    "challenges/a%0Ab",
    "challenges/ü",
    "challenges/" + "x" * 3000,
    "challenges/x/phases/y/leaderboard/",
    "challenges/x/phases/y/leaderboard?format=csv",
    "challenges/x/join",
    "challenges/x/phases/y/quota",
    "challenges/x/phases/y/submissions",
    "submissions/not-a-uuid",
    "submissions/00000000-0000-0000-0000-000000000000",
    "submissions/00000000-0000-0000-0000-000000000000/cancel",
    "submissions/00000000-0000-0000-0000-000000000000/report",
    "submissions",
    "../../etc/passwd",
)


@pytest.fixture
def challenge(make: Make) -> Challenge:
    return make.challenge(slug="detection")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """Return a function that makes every request for a challenge raise the given error: `broken(error)`."""

    def breaks(error: Exception) -> None:
        def get(*args: Any, **kwargs: Any) -> None:
            raise error

        monkeypatch.setattr(ChallengeDetail, "get", get)

    return breaks


@pytest.mark.parametrize("method", METHODS)
def test_no_method_on_any_address_causes_a_server_error(api: Api, make: Make, method: str) -> None:
    for address, user in product(ADDRESSES, (None, make.user())):
        answer = api.ask(method, address, user=user)
        assert answer.status_code < 500
        if answer.status_code >= 400 and method != "HEAD":
            document = answer.json()
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert document["status"] == answer.status_code
            assert document["type"] == f"urn:podium:problem:{document['code']}"
            assert document["title"]
            assert document["detail"]


@pytest.mark.parametrize("address", ["", "nothing", "challenges/", "submissions/not-a-uuid", "challenges/a%0Ab"])
def test_an_unknown_address_is_not_found(api: Api, db: None, address: str) -> None:
    answer = api.get(address)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_wrong_method_is_405_with_the_allowed_methods(api: Api, challenge: Challenge) -> None:
    answer = api.ask("PUT", "challenges/detection")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_a_wrong_media_type_is_415(api: Api, challenge: Challenge, make: Make) -> None:
    answer = api.post("challenges/detection/join", "<a/>", user=make.user(), content_type="text/xml")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_a_form_instead_of_json_is_415(api: Api, challenge: Challenge, make: Make) -> None:
    form = {"user": make.user(), "content_type": "application/x-www-form-urlencoded"}
    assert api.post("challenges/detection/join", "accept_rules=true", **form).status_code == 415


def test_a_format_that_is_not_available_is_406(api: Api, db: None) -> None:
    answer = api.get("challenges", headers={"Accept": "image/png"})
    assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")


@pytest.mark.parametrize("form", ["csv", "xml", "%00", "api"])
def test_an_unknown_format_is_invalid(api: Api, db: None, form: str) -> None:
    answer = api.get(f"challenges/x?format={form}")
    assert (answer.status_code, answer.json()["code"]) in {(422, "invalid"), (404, "not_found")}


def test_json_that_is_too_large_is_refused(api: Api, challenge: Challenge, make: Make, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    answer = api.post("challenges/detection/join", {"team": "x" * 200}, user=make.user())
    assert (answer.status_code, answer.json()["code"]) == (413, "file_too_large")


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_that_is_nested_too_deeply_is_refused(api: Api, challenge: Challenge, make: Make, opening: str) -> None:
    answer = api.post("challenges/detection/join", opening * 100_000, user=make.user())
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


def test_json_with_a_huge_number_is_invalid(api: Api, challenge: Challenge, make: Make) -> None:
    answer = api.post("challenges/detection/join", '{"accept_rules": ' + "9" * 10_000 + "}", user=make.user())
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize("charset", ["utf-16", "zlib", "base64", "rot13", "nothing", "utf-7"])
def test_the_character_set_of_a_header_is_ignored(db: None, charset: str) -> None:
    environ: dict[str, Any] = {"PATH_INFO": "/api/v1/nothing", "QUERY_STRING": "a=%C3%BC", "HTTP_HOST": "localhost"}
    setup_testing_defaults(environ)
    answered: list[str] = []
    application(
        {**environ, "CONTENT_TYPE": f"application/json; charset={charset}"},
        lambda status, headers: answered.append(status),
    )
    assert answered == ["404 Not Found"]


class TestServerError:
    def test_the_problem_document_contains_the_request_id(
        self, api: Api, challenge: Challenge, broken: Callable[[Exception], None]
    ) -> None:
        broken(RuntimeError("secret detail"))
        answer = api.get("challenges/detection")
        assert (answer.status_code, answer.json()["code"]) == (500, "server_error")
        assert answer.json()["request_id"] == answer.headers["X-Request-Id"]
        assert "secret" not in answer.content.decode()

    def test_the_log_contains_the_request_id_and_the_traceback(
        self, api: Api, challenge: Challenge, broken: Callable[[Exception], None], caplog: pytest.LogCaptureFixture
    ) -> None:
        broken(RuntimeError("secret detail"))
        with caplog.at_level(logging.ERROR, logger="server.api.errors"):
            answer = api.get("challenges/detection")
        (entry,) = [record for record in caplog.records if record.name == "server.api.errors"]
        assert answer.json()["request_id"] in entry.getMessage()
        assert entry.exc_info is not None

    def test_a_full_disk_is_507(
        self, client: Client, challenge: Challenge, broken: Callable[[Exception], None]
    ) -> None:
        broken(OSError(ENOSPC, "No space left on device"))
        answer = client.get("/api/v1/challenges/detection")
        assert (answer.status_code, answer.json()["code"]) == (507, "no_space")


def test_errors_on_pages_are_in_html(client: Client, db: None) -> None:
    assert client.get("/nothing-here").headers["Content-Type"].startswith("text/html")
