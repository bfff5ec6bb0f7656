"""Whether the machine has the memory that its workers may use: said once, at start."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

CONTROL_GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
INSTALLED = Path("/proc/meminfo")


def shortage() -> str:
    """Say what to set, if all processes of the worker together may use more than the machine has; else nothing."""
    available, processes = machine_bytes(), settings.WORKER_PROCESSES
    wanted = processes * settings.WORKER_MEMORY_BYTES
    if available is None or wanted <= available:
        return ""
    return (
        f"{processes} processes may use {gibibytes(settings.WORKER_MEMORY_BYTES)} each, {gibibytes(wanted)} together; "
        f"this machine has {gibibytes(available)}. When they need it, the kernel kills one of them. Set "
        f"WORKER_MEMORY_BYTES={available // processes} or less, or WORKER_PROCESSES="
        f"{max(1, available // settings.WORKER_MEMORY_BYTES)}."
    )


def gibibytes(count: int) -> str:
    return f"{count / 2**30:.3g} GiB"


def machine_bytes() -> int | None:
    """Return the memory that is installed, or what the control groups of this process leave of it; None: unknown."""
    return min([*installed_bytes(), *group_bytes()], default=None)


def installed_bytes() -> Iterator[int]:
    lines = INSTALLED.read_text().splitlines() if INSTALLED.exists() else []
    yield from (int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal:"))


def group_bytes() -> Iterator[int]:
    """Yield the limit of each group that this process is in, version 2 (`0::/path`) or 1 (`5:memory:/path`)."""
    for line in MEMBERSHIP.read_text().splitlines() if MEMBERSHIP.exists() else []:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from limits_above(CONTROL_GROUPS, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from limits_above(CONTROL_GROUPS / "memory", path, "memory.limit_in_bytes")


def limits_above(root: Path, path: str, name: str) -> Iterator[int]:
    """Yield the limits of a group and of those that it is in; inside a container its own group may be the root."""
    group = root / path.lstrip("/")
    for folder in (group, *group.parents):
        limit = folder / name
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            yield int(text)
        if folder == root:
            return
