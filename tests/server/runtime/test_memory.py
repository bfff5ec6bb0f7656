"""Workers that may use more memory than the machine has are told of at start, with figures and what to set."""

from pathlib import Path
from typing import Any

import pytest

from server.runtime import memory

GIB = 2**30


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """`machine(16 * GIB, groups={"a/memory.max": "1024"}, membership="0::/a/b")`."""

    def build(installed: int, *, groups: dict[str, str] | None = None, membership: str = "0::/") -> None:
        (tmp_path / "meminfo").write_text(f"MemTotal:       {installed // 1024} kB\nMemFree: 1 kB\n")
        (tmp_path / "membership").write_text(membership + "\n")
        for name, limit in (groups or {}).items():
            (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "groups" / name).write_text(limit + "\n")
        monkeypatch.setattr(memory, "INSTALLED", tmp_path / "meminfo")
        monkeypatch.setattr(memory, "MEMBERSHIP", tmp_path / "membership")
        monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path / "groups")

    return build


@pytest.mark.parametrize(
    ("groups", "membership", "available"),
    [
        ({}, "0::/", 16 * GIB),
        ({"memory.max": str(4 * GIB)}, "0::/", 4 * GIB),  # in a container
        ({"a/b/memory.max": "max", "a/memory.max": str(3 * GIB)}, "0::/a/b", 3 * GIB),  # what holds the group, too
        ({"memory/a/memory.limit_in_bytes": str(2 * GIB)}, "4:cpu:/x\n5:memory,rdma:/a", 2 * GIB),  # version 1
        ({"memory/memory.limit_in_bytes": "9223372036854771712"}, "5:memory:/gone", 16 * GIB),  # no limit
    ],
)
def test_machine_has_what_its_control_groups_leave(machine, groups, membership, available):
    machine(16 * GIB, groups=groups, membership=membership)
    assert memory.machine_bytes() == available


def test_workers_beyond_the_machine_are_told_what_to_set(machine, settings):
    machine(8 * GIB)
    settings.WORKER_PROCESSES, settings.WORKER_MEMORY_BYTES = 4, 6 * GIB
    told = memory.shortage()
    assert "4 processes may use 6 GiB each, 24 GiB together; this machine has 8 GiB" in told
    assert f"WORKER_MEMORY_BYTES={2 * GIB} or less, or WORKER_PROCESSES=1" in told


@pytest.mark.parametrize(("processes", "told"), [(2, False), (3, True)])
def test_workers_that_fit_are_not(machine, settings, processes, told):
    machine(12 * GIB)
    settings.WORKER_PROCESSES, settings.WORKER_MEMORY_BYTES = processes, 6 * GIB
    assert bool(memory.shortage()) == told


def test_machine_that_says_nothing_is_believed(monkeypatch, tmp_path, settings):
    for name in ("INSTALLED", "MEMBERSHIP", "CONTROL_GROUPS"):
        monkeypatch.setattr(memory, name, tmp_path / "none")
    assert memory.shortage() == ""
