"""What is known of the audit log outside the database: a file with its end, and the log files of all processes."""

import fcntl
import gzip
import logging
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

log = logging.getLogger(__name__)

HEARD = re.compile(r"\S+ \S+ INFO server\.audit\.services entry (\d+) ([0-9a-f]{64})")
NOTE = re.compile(r"(\d{20}) ([0-9a-f]{64}) (\d{20})\n")
NOTHING = "0" * 64  # before the first entry
NOTE_BYTES = 20 + 1 + 64 + 1 + 20 + 1


class Damaged(ValueError):
    """The file with the end of the log cannot be read."""


@dataclass(frozen=True, slots=True)
class End:
    """The last entry that this machine has written, and the first one with a keyed hash."""

    number: int
    hash: str
    keyed_from: int


def path_of_end() -> Path:
    return Path(settings.PODIUM_HOME) / "audit_head"


def path_of_lost_ends() -> Path:
    return Path(settings.PODIUM_HOME) / "audit_lost"


def end() -> End | None:
    """Return the noted end; None where no entry was written since there are such notes."""
    try:
        text = path_of_end().read_text()
    except FileNotFoundError:
        return None
    return parsed(text)


def parsed(text: str) -> End | None:
    if not text:
        return None
    found = NOTE.fullmatch(text)
    if found is None:
        raise Damaged(f"{path_of_end()} is damaged")
    return End(int(found[1]), found[2], int(found[3]))


def note(number: int, hashed: str, *, is_back: bool = False) -> None:
    """Note the end of the log. An earlier entry than the noted one changes nothing, unless the log went back."""
    descriptor = os.open(path_of_end(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        known = parsed(os.pread(descriptor, 2 * NOTE_BYTES, 0).decode())
        if known is None or number > known.number or is_back:
            keyed_from = known.keyed_from if known else number
            os.pwrite(descriptor, f"{number:020d} {hashed} {keyed_from:020d}\n".encode(), 0)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def notice_going_back(number: int, hashed: str) -> None:
    """Keep the noted end if the database's is an earlier one; call it while nobody else can write an entry.

    A note is written after its commit, so it never is ahead of a database that only went on.
    """
    try:
        known = end()
    except Damaged:
        log.exception("what is known of the audit log's end cannot be compared")
        return
    if known is not None and known.number > number:
        with path_of_lost_ends().open("a") as file:
            file.write(path_of_end().read_text())
        note(number, hashed or NOTHING, is_back=True)


def lost_ends() -> list[End]:
    """Return the ends that this machine has noted, and that were gone when the next entry was written."""
    path = path_of_lost_ends()
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [known for line in lines if (known := parsed(line)) is not None]


def heard(paths: Iterable[Path]) -> Iterator[tuple[Path, int, str]]:
    """Yield number and hash of every entry that these log files say was written, with the file that says so."""
    for path in paths:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", errors="replace") as lines:
            for line in lines:
                if said := HEARD.match(line):
                    yield path, int(said[1]), said[2]


def own_logs() -> list[Path]:
    """Return the log files of this installation, rotated ones included."""
    return sorted(Path(settings.PODIUM_HOME).glob("logs/*.log*"))
