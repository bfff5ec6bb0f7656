"""While a worker cannot read the stored files, it is in the list of workers that take no jobs."""

import pytest

from evaluator import __version__
from server.runtime import health
from worker import liveness


class FakeRedis:
    """A fake Redis that stores hashes, and whose clock always shows the same time."""

    def __init__(self) -> None:
        self.hashes: dict[str, dict[str, float | str]] = {}
        self.evaluator: bytes | None = None

    def __enter__(self) -> "FakeRedis":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def time(self) -> tuple[int, int]:
        return 1_000_000, 0

    def hgetall(self, key: str) -> dict[bytes, bytes]:
        return {name.encode(): str(value).encode() for name, value in self.hashes.get(key, {}).items()}

    def get(self, key: str) -> bytes | None:
        return self.evaluator

    def hget(self, key: str, name: str) -> bytes | None:
        return self.hgetall(key).get(name.encode())

    def hset(self, key: str, name: str, value: float | str) -> None:
        self.hashes.setdefault(key, {})[name] = value

    def hdel(self, key: str, *names: str) -> None:
        for name in names:
            self.hashes.get(key, {}).pop(name, None)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeRedis:
    found = FakeRedis()
    monkeypatch.setattr(health, "redis", lambda: found)
    monkeypatch.setattr(liveness, "SENT", {})
    monkeypatch.setattr(liveness, "OTHER_VERSION", [0])
    return found


def test_a_worker_without_storage_is_listed_until_it_can_read_the_files_again(
    client: FakeRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = []
    for stopped in (0, 1, 1, 0):
        monkeypatch.setattr(liveness, "STOPPED", [stopped])
        liveness.renew("celery@a")
        listed.append("celery@a" in client.hashes.get(health.STOPPED_KEY, {}))
    assert listed == [False, True, True, False]
    assert set(client.hashes[health.WORKERS_KEY]) == {"celery@a"}
    assert client.hashes[health.VERSIONS_KEY] == {"celery@a": __version__}


def test_a_worker_that_ends_is_no_longer_listed(client: FakeRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "STOPPED", [1])
    liveness.renew("celery@a")
    liveness.forget("celery@a")
    assert client.hashes == {health.WORKERS_KEY: {}, health.STOPPED_KEY: {}, health.VERSIONS_KEY: {}}


def test_a_worker_takes_no_jobs_while_the_web_part_has_another_evaluator(client: FakeRedis) -> None:
    """Versions of Podium that do not record their evaluator stop no worker."""
    seen = []
    for evaluator in (None, b"0.9.0", __version__.encode()):
        client.evaluator = evaluator
        liveness.renew("celery@a")
        seen.append(bool(liveness.OTHER_VERSION[0]))
    assert seen == [False, True, False]


@pytest.mark.parametrize(
    ("other", "is_alarm"), [(None, False), (1_000_000.0, False), (999_998.25, False), (1_000_000.25, True)]
)
def test_two_workers_with_the_same_name_are_an_alarm(
    other: float | None, is_alarm: bool, client: FakeRedis, caplog: pytest.LogCaptureFixture
) -> None:
    """The list contains nothing, the last or an earlier heartbeat of this worker, or that of another one."""
    liveness.renew("celery@a")
    client.hashes[health.WORKERS_KEY] = {} if other is None else {"celery@a": other}
    liveness.renew("celery@a")
    assert ("another worker has the name celery@a" in caplog.text) == is_alarm


def test_the_heartbeat_of_an_earlier_worker_with_this_name_is_no_alarm(
    client: FakeRedis, caplog: pytest.LogCaptureFixture
) -> None:
    client.hashes[health.WORKERS_KEY] = {"celery@a": 999_000.0}
    liveness.renew("celery@a")
    assert caplog.text == ""


def test_the_sweeper_forgets_workers_and_sweepers_that_crashed_more_than_a_day_ago(client: FakeRedis) -> None:
    now, lost = 1_000_000.0, 1_000_000.0 - health.FORGOTTEN_SECONDS - 1
    client.hashes = {
        health.WORKERS_KEY: {"celery@a": now - 3600, "celery@b": lost},
        health.STOPPED_KEY: {"celery@b": lost},
        health.SWEEPERS_KEY: {"sweeper@b": lost},
    }
    health.note_sweep("sweeper@a")
    assert client.hashes == {
        health.WORKERS_KEY: {"celery@a": now - 3600},
        health.STOPPED_KEY: {},
        health.SWEEPERS_KEY: {"sweeper@a": now},
    }
