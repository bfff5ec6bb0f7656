"""Tests error pages: the HTTP status, the request id, and a link to a page that works."""

from errno import EDQUOT, ENOSPC
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.test import Client, RequestFactory

from server.errors import STATUS_OF_CODE, Refused
from server.pages.middleware import RefusalMiddleware
from server.pages.views import errors
from tests.conftest import Make
from tests.server.page import Page


@pytest.mark.parametrize(
    ("view", "status"),
    [(errors.bad_request, 400), (errors.forbidden, 403), (errors.csrf_failure, 403), (errors.not_found, 404)],
)
def test_error_pages_have_a_status_and_the_request_id(view: Any, status: int, rf: RequestFactory, db: None) -> None:
    request = rf.get("/")
    request.request_id = "abc123"  # type: ignore[attr-defined]
    page = Page(view(request))
    assert page.status == status
    assert "abc123" in page.words
    assert page.all("a", class_="button")


def test_the_page_of_a_server_error_needs_no_database(rf: RequestFactory) -> None:
    request = rf.get("/")
    request.request_id = "abc123"  # type: ignore[attr-defined]
    page = Page(errors.server_error(request))
    assert page.status == 500
    assert "abc123" in page.words


def test_a_broken_view_shows_the_request_id_of_the_header(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("server.pages.views.home.listed_challenges", broken)
    response = Client(raise_request_exception=False).get("/")
    assert response.status_code == 500
    assert response["X-Request-Id"] in Page(response).words


@pytest.mark.parametrize("number", [ENOSPC, EDQUOT])
def test_a_full_disk_while_a_form_is_read_is_507(monkeypatch: pytest.MonkeyPatch, make: Make, number: int) -> None:
    def full(handler: TemporaryFileUploadHandler, *_: Any) -> None:
        # Close the temporary file of the upload. Otherwise, it would remain open until garbage collection.
        handler.file.close()
        raise OSError(number, "full")

    monkeypatch.setattr(TemporaryFileUploadHandler, "receive_data_chunk", full)
    phase = make.phase()
    browser = Client(raise_request_exception=False, enforce_csrf_checks=True)
    browser.force_login(make.team(phase.challenge).memberships.get().user)
    address = f"/challenges/{phase.challenge.slug}/submit"
    browser.get(address)
    page = Page(browser.post(address, {"file": SimpleUploadedFile("run.csv", b"x")}))
    assert page.status == 507
    assert "no_space" in page.words


@pytest.mark.parametrize("code", sorted(STATUS_OF_CODE))
def test_every_refusal_has_a_page(code: str, rf: RequestFactory, db: None) -> None:
    middleware = RefusalMiddleware(lambda _: None)  # type: ignore[arg-type,return-value]
    response = middleware.process_exception(rf.get("/"), Refused(code, "Do this instead."))
    page = Page(response)
    assert page.status == STATUS_OF_CODE[code]
    assert code in page.words
    assert "Do this instead." in page.words


def test_other_exceptions_are_not_refusals(rf: RequestFactory) -> None:
    middleware = RefusalMiddleware(lambda _: None)  # type: ignore[arg-type,return-value]
    assert middleware.process_exception(rf.get("/"), ValueError()) is None


def test_the_page_of_an_unknown_address_links_to_the_front_page(client: Client, db: None) -> None:
    page = Page(client.get("/nothing/here"))
    assert page.status == 404
    assert "/" in page.links()


def test_a_temporary_refusal_has_a_retry_after_header(rf: RequestFactory, db: None) -> None:
    middleware = RefusalMiddleware(lambda _: None)  # type: ignore[arg-type,return-value]
    refusal = Refused("quota_exhausted", "Wait.", retry_after=17)
    response = middleware.process_exception(rf.get("/"), refusal)
    assert response is not None
    assert response["Retry-After"] == "17"
