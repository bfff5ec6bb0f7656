"""When the service starts, it reports worker settings that may cause problems, and suggests better values."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from server.runtime import setting_warnings

GIB = 2**30


@pytest.mark.parametrize(
    ("at_once", "processes", "warned"), [(1, 1, False), (2, 1, False), (1, 2, False), (2, 2, True), (4, 3, True)]
)
def test_a_warning_is_given_if_one_team_may_use_every_process(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, at_once, processes, warned
) -> None:
    monkeypatch.setattr(setting_warnings, "memory_warning", lambda: "")
    settings.TEAM_EVALUATIONS_AT_ONCE, settings.WORKER_PROCESSES = at_once, processes
    expected = [
        f"TEAM_EVALUATIONS_AT_ONCE={at_once} lets one team occupy all {processes} processes",
        f"{processes - 1} or less",
    ]
    found = setting_warnings.setting_warnings()
    assert [all(words in warning for words in expected) for warning in found] == [True] * warned


def test_too_little_memory_is_a_warning(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TEAM_EVALUATIONS_AT_ONCE, settings.WORKER_PROCESSES = 1, 2
    monkeypatch.setattr(setting_warnings, "memory_warning", lambda: "too much")
    assert setting_warnings.setting_warnings() == ["too much"]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Return a function that simulates the memory of a machine and the limits of its control groups.

    Example: `machine(16 * GIB, groups={"a/memory.max": "1024"}, membership="0::/a/b")`
    """

    def build(installed: int, *, groups: dict[str, str] | None = None, membership: str = "0::/") -> None:
        (tmp_path / "meminfo").write_text(f"MemTotal:       {installed // 1024} kB\nMemFree: 1 kB\n")
        (tmp_path / "membership").write_text(membership + "\n")
        for name, limit in (groups or {}).items():
            (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "groups" / name).write_text(limit + "\n")
        monkeypatch.setattr(setting_warnings, "INSTALLED", tmp_path / "meminfo")
        monkeypatch.setattr(setting_warnings, "MEMBERSHIP", tmp_path / "membership")
        monkeypatch.setattr(setting_warnings, "CONTROL_GROUPS", tmp_path / "groups")

    return build


@pytest.mark.parametrize(
    ("groups", "membership", "available"),
    [
        ({}, "0::/", 16 * GIB),
        # If the process runs in a container with a memory limit, this limit applies.
        ({"memory.max": str(4 * GIB)}, "0::/", 4 * GIB),
        # If a control group has no memory limit, the limit of its parent applies.
        ({"a/b/memory.max": "max", "a/memory.max": str(3 * GIB)}, "0::/a/b", 3 * GIB),
        # The last two cases have the file names of control groups version 1 (cgroup v1): first with a memory limit,
        # then without.
        ({"memory/a/memory.limit_in_bytes": str(2 * GIB)}, "4:cpu:/x\n5:memory,rdma:/a", 2 * GIB),
        ({"memory/memory.limit_in_bytes": "9223372036854771712"}, "5:memory:/gone", 16 * GIB),
    ],
)
def test_available_memory_is_what_the_control_groups_leave(
    machine: Callable[..., None], groups, membership, available
) -> None:
    machine(16 * GIB, groups=groups, membership=membership)
    assert setting_warnings.available_bytes() == available


def test_workers_that_need_more_than_the_machine_has_are_reported_with_what_to_set(
    machine: Callable[..., None], settings: Settings
) -> None:
    machine(8 * GIB)
    settings.WORKER_PROCESSES, settings.WORKER_MEMORY_BYTES = 4, 6 * GIB
    warning = setting_warnings.memory_warning()
    assert "4 processes may use 6 GiB each, 24 GiB in total; this machine has 8 GiB" in warning
    assert f"WORKER_MEMORY_BYTES={2 * GIB} or less, or WORKER_PROCESSES=1" in warning


@pytest.mark.parametrize(("processes", "warned"), [(2, False), (3, True)])
def test_workers_that_fit_are_not_reported(machine: Callable[..., None], settings: Settings, processes, warned) -> None:
    machine(12 * GIB)
    settings.WORKER_PROCESSES, settings.WORKER_MEMORY_BYTES = processes, 6 * GIB
    assert bool(setting_warnings.memory_warning()) == warned


def test_no_warning_if_the_memory_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Settings
) -> None:
    for name in ("INSTALLED", "MEMBERSHIP", "CONTROL_GROUPS"):
        monkeypatch.setattr(setting_warnings, name, tmp_path / "none")
    assert setting_warnings.memory_warning() == ""
