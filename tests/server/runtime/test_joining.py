"""A process does not start if its database, storage and broker belong to different Podium installations."""

from pathlib import Path
from types import TracebackType

import pytest
from pytest_django import Settings

from server.runtime import joining
from server.runtime.joining import WrongInstallation
from server.runtime.models import Installation

OTHER = "f" * 32


@pytest.fixture
def folders(db: None, settings: Settings, tmp_path: Path) -> list[Path]:
    """Configure storage folders that do not exist yet. Return the paths where the installation id will be written."""
    settings.MEDIA_ROOT, settings.TRUTH_ROOT = tmp_path / "uploads", tmp_path / "truths"
    return [settings.MEDIA_ROOT / joining.FILE, settings.TRUTH_ROOT / joining.FILE]


def key() -> str:
    return Installation.objects.get().key


def test_a_new_installation_has_an_id_that_its_first_start_writes_into_the_storage(folders: list[Path]) -> None:
    joining.check_storages(first=True)
    assert [path.read_text() for path in folders] == [key()] * 2
    assert len(key()) == 32
    joining.check_storages(first=True)
    joining.check_storages(first=False)


def test_a_storage_of_another_installation_is_refused_with_both_ids(folders: list[Path]) -> None:
    joining.check_storages(first=True)
    folders[1].write_text(OTHER)
    with pytest.raises(WrongInstallation, match=f"{OTHER[:8]}, but the database belongs to {key()[:8]}") as refused:
        joining.check_storages(first=True)
    assert refused.value.returncode == 78


@pytest.mark.parametrize("first", [True, False])
def test_a_storage_that_is_not_mounted_is_refused(first: bool, folders: list[Path]) -> None:
    joining.check_storages(first=True)
    folders[0].unlink()
    with pytest.raises(WrongInstallation, match="Mount the storage"):
        joining.check_storages(first=first)
    assert not folders[0].exists()


def test_only_the_part_that_migrates_writes_the_first_id(folders: list[Path]) -> None:
    with pytest.raises(WrongInstallation):
        joining.check_storages(first=False)
    assert [path.exists() for path in folders] == [False, False]


class FakeRedis:
    """A fake Redis that stores a single value."""

    def __init__(self, kept: bytes | None) -> None:
        self.kept = kept

    def __enter__(self) -> "FakeRedis":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def set(self, name: str, value: str, *, nx: bool) -> None:
        assert nx
        self.kept = self.kept or value.encode()

    def get(self, name: str) -> bytes | None:
        return self.kept


def use(redis: FakeRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining.Redis, "from_url", lambda url: redis)


@pytest.mark.django_db
def test_an_unused_broker_gets_the_id_of_the_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    redis = FakeRedis(None)
    use(redis, monkeypatch)
    joining.check_broker("redis://cache")
    joining.check_broker("redis://cache")
    assert redis.kept == key().encode()


@pytest.mark.django_db
def test_a_broker_of_another_installation_is_refused_with_both_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    use(FakeRedis(OTHER.encode()), monkeypatch)
    with pytest.raises(WrongInstallation, match=f"{OTHER[:8]}, but the database belongs to {key()[:8]}") as refused:
        joining.check_broker("redis://:hunter2@cache/1")
    assert "hunter2" not in str(refused.value)
    assert "redis://cache/1" in str(refused.value)
