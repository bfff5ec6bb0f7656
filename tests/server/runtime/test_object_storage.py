"""Tests an installation whose files are in an object store: startup, checks, backups, quarantine, and secrets."""

import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.config import Config
from django.conf import settings as configured
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from pytest_django import Settings

from server.challenges.models import Truth
from server.challenges.truth_storage import storages, truth_storage
from server.runtime import doctor, health, joining
from server.runtime.backup import files
from server.runtime.environment import env
from server.runtime.home import NotAvailable, NotStarted
from server.runtime.joining import WrongInstallation
from server.runtime.models import Installation
from server.stored_files import objects
from server.stored_files.address import ObjectStore, parsed
from server.stored_files.copies import in_objects
from server.submissions.models import Submission
from server.submissions.services import object_quarantine, quarantine
from tests import object_store
from tests.conftest import Make
from tests.object_store import Line, line, store, store_port

__all__ = ["line", "store", "store_port"]

pytestmark = pytest.mark.enable_socket
ROOT = Path(__file__).parents[3]
ADDRESS = "s3://key:se%2Fcret@store.example.org:9000/podium"


def test_an_address_has_a_key_pair_a_bucket_and_options() -> None:
    found = parsed(f"{ADDRESS}?tls=false&region=eu-1")
    assert (found.endpoint, found.bucket, found.region) == ("http://store.example.org:9000", "podium", "eu-1")
    assert (found.access_key, found.secret_key) == ("key", "se/cret")
    assert parsed(ADDRESS).endpoint == "https://store.example.org:9000"


@pytest.mark.parametrize(
    "address",
    [
        *("http://key:hunter2@host/b", "s3://key:hunter2@host", "s3://key:hunter2@host/a/b", "s3://hunter2@host/b"),
        *("s3://key:hunter2@host/b?tls=maybe", "s3://key:hunter2@host/b?acl=public", "s3://key:hunter2@host:x/b"),
    ],
)
def test_an_unusable_address_is_refused_without_its_secret(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_URL", address)
    with pytest.raises(ImproperlyConfigured, match="STORAGE_URL=") as refused:
        env.object_store("STORAGE_URL")
    assert "hunter2" not in str(refused.value)


def test_the_secret_is_in_no_representation() -> None:
    assert "cret" not in repr(parsed(ADDRESS)) + parsed(ADDRESS).title


def test_without_an_object_storage_its_packages_are_not_loaded(tmp_path: Path) -> None:
    used = "import django, sys; django.setup(); import server.urls, worker.tasks"
    code = f"{used}; print({{'boto3', 'storages'}} & {{*sys.modules}})"
    environment = {**os.environ, "PODIUM_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "server.settings"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.usefixtures("db", "store")
class TestStart:
    def test_the_first_start_creates_the_bucket_and_writes_the_id(self, store: ObjectStore) -> None:
        in_objects(default_storage).client.delete_bucket(Bucket=store.bucket)
        joining.check_storages(first=True)
        assert {joining.read_id(one) for one in storages().values()} == {Installation.objects.get().key}
        joining.check_storages(first=False)

    def test_a_bucket_of_another_installation_is_refused(self) -> None:
        joining.check_storages(first=True)
        truth_storage().save(joining.FILE, ContentFile(b"f" * 32))
        with pytest.raises(WrongInstallation, match=r"belong to the installation ffffffff, .* STORAGE_URL"):
            joining.check_storages(first=True)

    def test_a_bucket_without_the_id_is_refused_later(self) -> None:
        joining.check_storages(first=True)
        default_storage.delete(joining.FILE)
        with pytest.raises(WrongInstallation, match="it has no file installation/id"):
            joining.check_storages(first=True)

    def test_a_storage_that_does_not_respond_is_explained(self, line: Line) -> None:
        line.down = True
        with pytest.raises(NotAvailable, match=r"STORAGE_URL=s3://127\.0\.0\.1.* cannot be used: .*Start") as refused:
            joining.check_storages(first=True)
        assert "secret" not in str(refused.value)
        assert "cannot be used" in health.storage()

    def test_a_storage_that_accepts_connections_but_does_not_respond_is_reported_soon(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`manage.py ready` waits for 10 seconds, and each probe occupies a thread of the web process."""
        assert objects.CHECK.connect_timeout + objects.CHECK.read_timeout < 10
        monkeypatch.setattr(objects, "CHECK", objects.CHECK.merge(Config(read_timeout=0.2)))
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"s3://key:secret@127.0.0.1:{silent.getsockname()[1]}/silent?tls=false"
            object_store.configured(address, settings, monkeypatch)
            started = time.monotonic()
            assert "does not respond" in health.storage()
        assert time.monotonic() - started < 5

    def test_a_bucket_that_anybody_can_read_is_refused(self, store: ObjectStore) -> None:
        joining.check_storages(first=True)
        client = in_objects(default_storage).client
        client.put_object_acl(Bucket=store.bucket, Key=f"truths/{joining.FILE}", ACL="public-read")
        with pytest.raises(NotStarted, match=r"Anyone can read .*/truths"):
            joining.check_storages(first=False)

    def test_the_doctor_examines_it_without_showing_its_secret(self, line: Line) -> None:
        joining.check_storages(first=True)
        assert [one.level for one in doctor.check_storages()] == [doctor.OK]
        line.down = True
        found = [*doctor.check_storages()]
        assert {one.level for one in found} == {doctor.ERROR}
        assert "secret" not in str(found)


@pytest.mark.usefixtures("store")
class TestFiles:
    def test_no_file_has_a_url_that_leads_to_it(self, make: Make) -> None:
        truth = make.phase().truth
        assert truth.prepared.url.startswith(configured.MEDIA_URL)
        assert "?" not in truth.prepared.url

    def test_two_files_with_the_same_name_never_replace_each_other(self) -> None:
        names = {default_storage.generate_filename("kits/kit.json") for _ in range(100)}
        assert len(names) == 100

    def test_a_file_is_read_in_parts_from_any_offset(self) -> None:
        content = os.urandom(3_000_000)
        name = default_storage.save("submissions/large", ContentFile(content))
        with default_storage.open(name) as file:
            for offset in (2_999_990, 0, 1_048_570, 5):
                file.seek(offset)
                assert file.read(20) == content[offset : offset + 20]
        assert default_storage.size(name) == len(content)

    def test_a_backup_is_restored_into_an_empty_bucket(self, make: Make, tmp_path: Path) -> None:
        submission = make.submission(make.phase())
        one = files.Wanted("uploads", str(submission.file.name), submission.sha256, submission._meta.get_field("file"))
        stored = files.copied(one, tmp_path)
        assert stored.sha256 == submission.sha256
        assert files.put_back(one.path, stored, tmp_path) is False
        default_storage.delete(one.name)
        assert files.put_back(one.path, stored, tmp_path) is True
        assert in_objects(default_storage).head(one.name).sha256 == submission.sha256


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow files of any age to be moved to quarantine. Normally, recently stored files are not moved."""
    monkeypatch.setattr(quarantine, "UPLOAD_SECONDS", -60)
    monkeypatch.setattr(quarantine, "TRUTH_SECONDS", -60)


@pytest.mark.usefixtures("db", "store", "later")
class TestQuarantine:
    def test_files_without_rows_are_moved_and_come_back_with_their_rows(self, make: Make) -> None:
        submission = make.submission(make.phase())
        joining.check_storages(first=True)
        rows, truth = [*Submission.objects.all()], Truth.objects.get()
        Submission.objects.all().delete()
        Truth.objects.all().delete()
        assert object_quarantine.sweep() == (3, 0, 0)
        assert not default_storage.exists(str(submission.file.name))
        assert {one.since for one in object_quarantine.quarantined()} == {quarantine.today()}
        truth.save()
        Submission.objects.bulk_create(rows)
        assert object_quarantine.sweep() == (0, 3, 0)
        assert in_objects(default_storage).head(str(submission.file.name)).sha256 == submission.sha256
        joining.check_storages(first=False)

    def test_a_file_is_deleted_after_its_time_in_quarantine(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        default_storage.save("submissions/stray", ContentFile(b"content"))
        assert object_quarantine.sweep() == (1, 0, 0)
        day = datetime.now(UTC).date() + timedelta(days=settings.QUARANTINE_DAYS + 1)
        monkeypatch.setattr(quarantine, "today", lambda: day)
        assert object_quarantine.sweep() == (0, 0, 1)
        assert object_quarantine.quarantined() == []

    def test_a_file_that_another_sweeper_has_moved_meanwhile_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The other sweeper moves the first file after this one has listed both files."""
        for name in "ab":
            default_storage.save(f"submissions/stray-{name}", ContentFile(b"content"))
        unknown = [*object_quarantine.unknown_names()]
        object_quarantine.isolate(*unknown[0])
        monkeypatch.setattr(object_quarantine, "unknown_names", lambda: iter(unknown))
        assert object_quarantine.sweep() == (1, 0, 0)
        assert len(object_quarantine.quarantined()) == 2

    def test_a_file_that_another_sweeper_has_restored_meanwhile_is_not_restored_again(self) -> None:
        default_storage.save("submissions/stray", ContentFile(b"content"))
        object_quarantine.sweep()
        (first,), (second,) = object_quarantine.quarantined(), object_quarantine.quarantined()
        assert first.restore()
        in_objects(default_storage).delete(first.target)
        assert not second.restore()

    def test_nothing_is_done_if_the_storage_does_not_respond(
        self, line: Line, caplog: pytest.LogCaptureFixture
    ) -> None:
        line.down = True
        assert object_quarantine.sweep() == (0, 0, 0)
        assert "alarm" in caplog.text
