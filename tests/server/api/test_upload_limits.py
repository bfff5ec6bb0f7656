"""Partial uploads have limits for each account and for the disk, and expire after a day."""

import os
import time
from collections import namedtuple
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fcntl import LOCK_EX, flock
from uuid import UUID

import pytest
from pytest_django import Settings

from server.accounts.models import User
from server.challenges.models import Phase
from server.errors import Refused
from server.submissions import partial_uploads, upload_slots
from server.submissions.services import resumable, sweeping
from server.submissions.upload_handler import upload_folder
from tests.conftest import Make
from tests.server.api.conftest import FILE, Tus, folders, refused
from tests.server.documented import Api

Disk = namedtuple("Disk", "free")
NOW = datetime.now(UTC)
DAY = timedelta(days=1)

pytestmark = [
    pytest.mark.phase(challenge={"slug": "detection"}, slug="main", closes_at=NOW + DAY),
    pytest.mark.usefixtures("inline_queue", "team"),
]


def age(tus: Tus, minutes: int) -> None:
    """Make the latest upload look as if it had received no data for the given number of minutes."""
    folder = upload_folder() / f"upload-{tus.path.rpartition('/')[2].replace('-', '')}"
    for path in (folder / "content", folder):
        os.utime(path, (0, time.time() - 60 * minutes))


def refuse_for_now(*args: object, **options: object) -> None:
    raise Refused("quota_exhausted", "Try again tomorrow.")


def make_begin_earlier(minutes: int) -> None:
    """Make all uploads look as if they had begun the given number of minutes earlier."""
    for folder in folders():
        os.utime(folder / "about.json", (0, time.time() - 60 * minutes))


def only_id() -> UUID:
    (folder,) = folders()
    return UUID(folder.name.removeprefix("upload-"))


class TestLimits:
    def test_the_number_of_unfinished_uploads_of_an_account_is_limited(self, tus: Tus, settings: Settings) -> None:
        settings.ACCOUNT_MAX_UPLOADS = 2
        statuses = [tus.begin().status_code for _ in range(3)]
        assert statuses == [201, 201, 429]

    def test_finished_uploads_do_not_count(self, tus: Tus, settings: Settings) -> None:
        settings.ACCOUNT_MAX_UPLOADS = 1
        tus.begin()
        tus.patch(0, FILE)
        assert tus.begin(length=3).status_code == 201

    def test_a_chunk_that_is_being_received_needs_an_upload_slot(
        self, tus: Tus, member: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        taken: list[str] = []
        monkeypatch.setattr(upload_slots, "take", lambda name, most: bool(taken.append(name)))
        tus.begin()
        answer = tus.patch(0, FILE)
        assert refused(answer) == (429, "rate_limited")
        assert taken[0].startswith("team ")
        assert tus.state()["offset"] == 0

    def test_announced_bytes_count_against_the_disk_space(
        self, tus: Tus, api: Api, make: Make, settings: Settings
    ) -> None:
        settings.UPLOAD_MAX_BYTES = 1000
        assert [tus.begin(length=1000).status_code for _ in range(3)] == [201, 201, 429]
        phase = Phase.objects.get()
        others = [Tus(api, make.team(phase.challenge).memberships.get().user) for _ in range(3)]
        assert [other.begin(length=900).status_code for other in others] == [201, 507, 507]
        assert others[2].begin(length=100).status_code == 201

    def test_without_disk_space_the_status_is_507(self, tus: Tus, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(resumable.shutil, "disk_usage", lambda path: Disk(free=len(FILE) - 1))
        assert refused(tus.begin()) == (507, "no_space")

    def test_two_requests_do_not_write_at_the_same_time(self, tus: Tus) -> None:
        tus.begin()
        (folder,) = folders()
        held = os.open(folder, os.O_RDONLY)
        flock(held, LOCK_EX)
        answer = tus.patch(0, FILE)
        os.close(held)
        assert refused(answer) == (429, "rate_limited")
        assert answer.headers["Retry-After"] == "1"
        assert tus.patch(0, FILE).status_code == 204


class TestIdleUploads:
    """An upload that has received too little data is removed if another upload needs its space."""

    def test_the_oldest_idle_upload_of_an_account_is_replaced(self, tus: Tus, settings: Settings) -> None:
        settings.ACCOUNT_MAX_UPLOADS = 2
        paths = []
        for minutes in (20, 30):
            tus.begin()
            paths.append(tus.path)
            age(tus, minutes)
        assert tus.begin().status_code == 201
        assert [tus.api.ask("HEAD", path, user=tus.user).status_code for path in paths] == [200, 404]

    def test_an_upload_that_grows_is_not_replaced(self, tus: Tus, settings: Settings) -> None:
        settings.ACCOUNT_MAX_UPLOADS = 1
        tus.begin()
        age(tus, 20)
        tus.patch(0, FILE[:1])
        answer = tus.begin()
        assert refused(answer) == (429, "rate_limited")
        assert 0 < int(answer.headers["Retry-After"]) <= 15 * 60

    def test_idle_uploads_of_others_are_replaced_if_the_space_is_needed(
        self, tus: Tus, api: Api, make: Make, settings: Settings
    ) -> None:
        settings.UPLOAD_MAX_BYTES = 1000
        for _ in range(2):
            tus.begin(length=1000)
            age(tus, 20)
        phase = Phase.objects.get()
        other = Tus(api, make.team(phase.challenge).memberships.get().user)
        assert [other.begin(length=1000).status_code for _ in range(2)] == [201, 201]
        assert len(folders()) == 2

    @pytest.mark.parametrize("received", [0, 1])
    def test_space_that_is_reserved_but_hardly_used_is_given_to_others(
        self, tus: Tus, api: Api, make: Make, settings: Settings, received: int
    ) -> None:
        settings.UPLOAD_MAX_BYTES = 1000
        for _ in range(2):
            tus.begin(length=1000)
            tus.patch(0, FILE[:received])
        phase = Phase.objects.get()
        others = [Tus(api, make.team(phase.challenge).memberships.get().user) for _ in range(2)]
        assert [other.begin(length=1000).status_code for other in others] == [201, 507]
        make_begin_earlier(minutes=3)
        assert others[1].begin(length=1000).status_code == 201

    @pytest.mark.parametrize(("received", "status"), [(59, 201), (180, 429), (len(FILE), 429)])
    def test_a_slow_upload_is_replaced_and_one_that_is_fast_enough_is_not(
        self, tus: Tus, settings: Settings, monkeypatch: pytest.MonkeyPatch, received: int, status: int
    ) -> None:
        settings.ACCOUNT_MAX_UPLOADS = 1
        monkeypatch.setattr(partial_uploads, "SLOWEST_BYTES", 1)
        with monkeypatch.context() as patched:
            patched.setattr(resumable, "finish", refuse_for_now)
            tus.begin()
            tus.patch(0, FILE[:received])
        make_begin_earlier(minutes=3 if received < len(FILE) else 24 * 60)
        assert tus.begin().status_code == status

    def test_a_slow_upload_that_is_in_use_does_not_keep_idle_ones_from_being_removed(
        self, tus: Tus, api: Api, make: Make, settings: Settings
    ) -> None:
        settings.UPLOAD_MAX_BYTES = 1000
        other = Tus(api, make.team(Phase.objects.get().challenge).memberships.get().user)
        other.begin(length=1000)
        age(other, 20)
        (idle,) = folders()
        tus.begin(length=1000)
        make_begin_earlier(minutes=3)
        (used,) = (folder for folder in folders() if folder != idle)
        held = os.open(used, os.O_RDONLY)
        flock(held, LOCK_EX)
        assert tus.begin(length=1000).status_code == 201
        os.close(held)
        assert used in folders()
        assert idle not in folders()

    def test_nothing_is_removed_if_it_would_not_free_enough_space(
        self, tus: Tus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tus.begin()
        age(tus, 20)
        monkeypatch.setattr(resumable.shutil, "disk_usage", lambda path: Disk(free=0))
        assert refused(tus.begin()) == (507, "no_space")
        assert tus.api.ask("HEAD", f"uploads/{only_id()}", user=tus.user).status_code == 200

    def test_an_upload_to_which_a_request_is_writing_is_not_removed(self, tus: Tus, settings: Settings) -> None:
        settings.ACCOUNT_MAX_UPLOADS = 1
        tus.begin()
        age(tus, 20)
        (folder,) = folders()
        held = os.open(folder, os.O_RDONLY)
        flock(held, LOCK_EX)
        assert refused(tus.begin()) == (429, "rate_limited")
        os.close(held)
        assert tus.begin().status_code == 201


class TestExpiry:
    @pytest.fixture
    def expired(self, tus: Tus) -> Callable[[], None]:
        def age() -> None:
            for path in [*upload_folder().rglob("*")][::-1]:
                os.utime(path, (0, time.time() - 25 * 3600))

        return age

    def test_an_upload_expires_after_a_day(self, tus: Tus, expired: Callable[[], None]) -> None:
        tus.begin()
        expired()
        assert tus.head().status_code == 404
        assert tus.patch(0, FILE).status_code == 404

    def test_the_sweeper_removes_expired_uploads_only(self, tus: Tus, expired: Callable[[], None]) -> None:
        tus.begin()
        expired()
        tus.begin()
        assert sweeping.sweep().removed == 1
        assert [folder.name for folder in folders()] == [f"upload-{tus.path.rpartition('/')[2].replace('-', '')}"]

    def test_every_byte_extends_the_lifetime_of_an_upload(self, tus: Tus, expired: Callable[[], None]) -> None:
        tus.begin()
        for path in upload_folder().rglob("*"):
            os.utime(path, (0, time.time() - 23 * 3600))
        tus.patch(0, FILE[:1])
        assert datetime.fromisoformat(tus.state()["expires_at"]) > datetime.now(UTC) + timedelta(hours=23)
