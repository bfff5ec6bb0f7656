"""Warns at start about settings that may cause harm: too little memory, or a team that can occupy every process."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

CONTROL_GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
INSTALLED = Path("/proc/meminfo")


def setting_warnings() -> list[str]:
    """Return one warning for each setting whose value may cause problems while the service runs."""
    return [warning for warning in (memory_warning(), team_limit_warning()) if warning]


def team_limit_warning() -> str:
    """Return a warning if one team can occupy every process of the worker, or an empty string otherwise."""
    at_once, processes = settings.TEAM_EVALUATIONS_AT_ONCE, settings.WORKER_PROCESSES
    if processes < 2 or at_once < processes:
        return ""
    return (
        f"TEAM_EVALUATIONS_AT_ONCE={at_once} lets one team occupy all {processes} processes of this worker. Set it to "
        f"{processes - 1} or less, unless there are other workers."
    )


def memory_warning() -> str:
    """Return a warning if all worker processes together may use more memory than the machine has."""
    available, processes = available_bytes(), settings.WORKER_PROCESSES
    wanted = processes * settings.WORKER_MEMORY_BYTES
    if available is None or wanted <= available:
        return ""
    return (
        f"{processes} processes may use {gibibytes(settings.WORKER_MEMORY_BYTES)} each, {gibibytes(wanted)} in total; "
        f"this machine has {gibibytes(available)}. When memory runs out, the kernel kills one of them. Set "
        f"WORKER_MEMORY_BYTES={available // processes} or less, or WORKER_PROCESSES="
        f"{max(1, available // settings.WORKER_MEMORY_BYTES)}."
    )


def gibibytes(count: int) -> str:
    return f"{count / 2**30:.3g} GiB"


def available_bytes() -> int | None:
    """Return the installed memory, or the limit of this process's control groups if it is lower.

    Return None if the size is unknown.
    """
    return min([*installed_bytes(), *group_bytes()], default=None)


def installed_bytes() -> Iterator[int]:
    lines = INSTALLED.read_text().splitlines() if INSTALLED.exists() else []
    yield from (int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal:"))


def group_bytes() -> Iterator[int]:
    """Yield the memory limits of the control groups of this process.

    The kernel lists the groups in lines such as `0::/path` (version 2) or `5:memory:/path` (version 1).
    """
    for line in MEMBERSHIP.read_text().splitlines() if MEMBERSHIP.exists() else []:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from limits_above(CONTROL_GROUPS, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from limits_above(CONTROL_GROUPS / "memory", path, "memory.limit_in_bytes")


def limits_above(root: Path, path: str, name: str) -> Iterator[int]:
    """Yield the memory limits of a control group and its parents.

    The limit in the root folder is included, because it may be the limit of the container in which this process runs.
    """
    group = root / path.lstrip("/")
    for folder in (group, *group.parents):
        limit = folder / name
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            yield int(text)
        if folder == root:
            return
