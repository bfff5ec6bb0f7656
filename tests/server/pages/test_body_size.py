"""Request bodies that are too large are rejected before they are read."""

from typing import Any

import pytest
from django.core.files import uploadhandler
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from server.challenges.models import Phase
from server.middleware import FORM_BYTES
from tests.conftest import InlineQueue, Make
from tests.server.page import Page

MEGABYTE = 2**20
SUBMISSIONS = "/api/v1/challenges/c/phases/main/submissions"


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, slug="main")


@pytest.fixture
def nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def new_file(*_: Any, **__: Any) -> None:
        raise AssertionError("a file of the form was opened on disk")

    monkeypatch.setattr(uploadhandler.TemporaryFileUploadHandler, "new_file", new_file)


def a_file(size: int) -> SimpleUploadedFile:
    return SimpleUploadedFile("run.csv", b"x" * size, "text/csv")


@pytest.mark.parametrize(
    "path",
    ["/accounts/login", "/admin/login/", "/accounts/signup", "/accounts/tokens", "/challenges/c/join", "/"],
)
def test_a_page_refuses_a_large_body(path: str, phase: Phase, nothing_is_written: None) -> None:
    response = Client(enforce_csrf_checks=True).post(path, {"file": a_file(MEGABYTE)})
    page = Page(response)
    assert page.status == 413
    assert "file_too_large" in page.words


@pytest.mark.parametrize("path", ["/api/v1/challenges/c/join", "/api/v1/me", "/api/v1/nowhere"])
def test_the_api_refuses_a_large_body(path: str, phase: Phase, nothing_is_written: None) -> None:
    answer = Client().post(path, {"file": a_file(MEGABYTE)})
    assert (answer.status_code, answer.json()["code"]) == (413, "file_too_large")
    assert answer["Content-Type"] == "application/problem+json"


def test_a_large_body_is_refused_on_routes_without_files(
    make: Make, phase: Phase, client: Client, nothing_is_written: None
) -> None:
    client.force_login(make.user())
    assert client.post("/api/v1/challenges/c/join", {"file": a_file(MEGABYTE)}).status_code == 413


@pytest.mark.parametrize("path", ["/challenges/c/submit", SUBMISSIONS])
def test_a_file_above_the_limit_is_refused(
    path: str, phase: Phase, settings: Settings, nothing_is_written: None
) -> None:
    settings.UPLOAD_MAX_BYTES = 2 * MEGABYTE
    assert Client().post(path, {"file": a_file(2 * MEGABYTE + FORM_BYTES)}).status_code == 413


def test_a_large_file_below_the_limit_is_accepted(
    make: Make, phase: Phase, client: Client, inline_queue: InlineQueue
) -> None:
    user = make.user()
    make.team(phase.challenge, user)
    client.force_login(user)
    assert client.post("/challenges/c/submit", {"file": a_file(2 * MEGABYTE)}).status_code == 302


@pytest.mark.parametrize("page", ["new-phase", "phases/main/baselines"])
def test_organizers_upload_large_files(page: str, make: Make, phase: Phase, client: Client) -> None:
    phase.challenge.organizers.add(user := make.user())
    client.force_login(user)
    response = client.post(f"/organize/challenges/c/{page}", {"file": a_file(4 * MEGABYTE)})
    # The form is rejected because other fields are missing. A file of 4 MB is not too large.
    assert response.status_code == 422


@pytest.mark.parametrize(("path", "status"), [("/challenges/c/submit", 302), (SUBMISSIONS, 401)])
def test_a_large_file_of_a_stranger_is_not_read(path: str, status: int, phase: Phase, nothing_is_written: None) -> None:
    assert Client().post(path, {"file": a_file(2 * MEGABYTE)}).status_code == status


@pytest.mark.parametrize("path", ["/accounts/login", "/challenges/c/submit", SUBMISSIONS, "/api/v1/challenges"])
def test_a_body_without_its_length_is_refused(path: str, phase: Phase) -> None:
    response = Client().post(path, {"note": "x"}, headers={"Transfer-Encoding": "chunked"})
    assert response.status_code == 422
    assert b"Content-Length" in response.content


@pytest.mark.parametrize("length", ["", "x"])
def test_a_content_length_that_is_not_a_number_is_ignored(length: str, db: None, client: Client) -> None:
    assert client.post("/accounts/login", CONTENT_LENGTH=length).status_code == 200
