"""Uploads are rejected before they are read, if possible. Other uploads are hashed as they arrive.

An upload is never held in memory as a whole.
"""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from errno import ENOSPC
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from server.accounts.models import User
from server.challenges.models import Challenge
from server.submissions.models import Submission
from server.submissions.services import intake
from server.submissions.upload_handler import HashedFile
from server.wsgi import application
from tests.conftest import Make
from tests.server.documented import Api, part

PAGE, API = "/challenges/c/submit", "/api/v1/challenges/c/phases/main/submissions"
HOUR = timedelta(hours=1)
MEBIBYTE = 2**20
LARGE = 48 * MEBIBYTE
TOKEN = "a" * 32


class Pieces:
    """A request body whose content is generated while the body is read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.rest = pieces, b""

    def read(self, size: int) -> bytes:
        while len(self.rest) < size and (piece := next(self.pieces, b"")):
            self.rest += piece
        found, self.rest = self.rest[:size], self.rest[size:]
        return found

    readline = read  # WSGI requires a method `readline`, but the tests do not call it.


class Unread:
    """A request body that must not be read."""

    def read(self, *size: int) -> bytes:
        raise AssertionError("the body was read")

    readline = read


Send = Callable[..., int]


# The server closes its connection to PostgreSQL before it reads the body of a request. Therefore, these tests must not
# run in a transaction.
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.phase(challenge={"slug": "c"}, slug="main"),
    pytest.mark.usefixtures("team", "inline_queue"),
]


@pytest.fixture
def send(api: Api) -> Send:
    """Return a function that uploads a file and returns the HTTP status: `send(PAGE, user, body, length)`.

    The first argument is the path of the page or of the API route.
    """

    def send(path: str, user: Any, body: Any, length: int) -> int:
        browser = Client()
        if user:
            browser.force_login(user)
        browser.cookies["csrftoken"] = TOKEN
        environ = browser._base_environ(
            PATH_INFO=path,
            REQUEST_METHOD="POST",
            CONTENT_TYPE="multipart/form-data; boundary=boundary",
            CONTENT_LENGTH=str(length),
            HTTP_X_CSRFTOKEN=TOKEN,
            **{"wsgi.input": body},
        )
        if path == API and user:
            environ |= {"HTTP_AUTHORIZATION": f"Bearer {api.secret(user)}", "HTTP_COOKIE": ""}
        answered: list[str] = []
        answer = application(environ, lambda status, headers: answered.append(status))
        b"".join(answer)
        answer.close()
        return int(answered[0].split()[0])

    return send


def form(size: int) -> tuple[Pieces, int, str]:
    """Return the body of a form with a file of `size` bytes, the length of the body, and the SHA-256 of the file."""
    head = part(b'name="file"; filename="run.csv"', b"")[: -len(b"\r\n")]
    tail = b"\r\n--boundary--\r\n"
    piece = bytes(range(256)) * (MEBIBYTE // 256)
    digest = sha256()
    for _ in range(size // MEBIBYTE):
        digest.update(piece)

    def pieces() -> Iterator[bytes]:
        yield head
        for _ in range(size // MEBIBYTE):
            yield piece
        yield tail

    return Pieces(pieces()), len(head) + size + len(tail), digest.hexdigest()


@pytest.mark.parametrize("path", [PAGE, API])
def test_a_large_file_is_hashed_while_it_arrives_and_never_held_in_memory(
    path: str, member: User, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Delete `file_digest`, which would read the file again. The hash must come from the upload handler.
    monkeypatch.delattr(intake, "file_digest")
    body, length, digest = form(LARGE)
    tracemalloc.start()
    try:
        status = send(path, member, body, length)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert status in (201, 302)
    submission = Submission.objects.get()
    assert (submission.size_bytes, submission.sha256) == (LARGE, digest)
    assert peak < 10 * MEBIBYTE


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"opens_at": datetime.now(UTC) + HOUR}, 409),
        ({"closes_at": datetime.now(UTC) - HOUR}, 409),
        ({"quota_per_day": 0}, 429),
        ({"attempts_per_day": 0}, 429),
        ({"quota_total": 0}, 429),
    ],
)
@pytest.mark.parametrize("path", [PAGE, API])
def test_an_upload_that_would_be_refused_is_refused_before_its_body_is_read(
    path: str, fields: dict[str, Any], status: int, member: User, send: Send
) -> None:
    phase = member.memberships.get().challenge.phases.get()
    type(phase).objects.update(**fields)
    assert send(path, member, Unread(), LARGE) == status


@pytest.mark.parametrize(("path", "status"), [(PAGE, 302), (API, 401)])
def test_a_strangers_file_is_not_read(path: str, status: int, member: User, send: Send) -> None:
    assert send(path, None, Unread(), LARGE) == status


def test_an_outsiders_file_is_not_read(member: User, make: Make, send: Send) -> None:
    assert send(API, make.user(), Unread(), LARGE) == 403


def test_the_first_file_of_a_person_who_cannot_join_is_not_read(member: User, make: Make, send: Send) -> None:
    Challenge.objects.update(join_until=datetime.now(UTC) - HOUR)
    assert send(PAGE, make.user(), Unread(), LARGE) == 403


@pytest.mark.parametrize("path", [PAGE, API])
def test_a_file_beyond_the_limit_is_not_read(path: str, member: User, settings: Settings, send: Send) -> None:
    assert send(path, member, Unread(), settings.UPLOAD_MAX_BYTES + MEBIBYTE) == 413


@pytest.mark.parametrize("path", [PAGE, API])
def test_an_upload_that_fills_the_disk_frees_its_space_at_once(
    path: str, member: User, send: Send, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(file: HashedFile, data: bytes) -> int:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(HashedFile, "write", write, raising=False)
    body, length, _ = form(MEBIBYTE)
    gc.disable()
    try:
        assert send(path, member, body, length) == 507
        assert list(Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir()) == []
    finally:
        gc.enable()


@pytest.mark.parametrize("path", [PAGE, API])
def test_a_folder_for_arriving_files_that_was_moved_away_is_created_again(
    path: str, member: User, send: Send, settings: Settings
) -> None:
    Path(settings.FILE_UPLOAD_TEMP_DIR).rmdir()
    body, length, digest = form(MEBIBYTE)
    assert send(path, member, body, length) in (201, 302)
    assert Submission.objects.get().sha256 == digest
    assert Path(settings.FILE_UPLOAD_TEMP_DIR).stat().st_mode & 0o777 == 0o700
