"""Records of the audit log outside the database: log files, and a file with the number and hash of the last entry."""

import fcntl
import gzip
import logging
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from django.conf import settings

log = logging.getLogger(__name__)

LOGGED = re.compile(r"(\S+ \S+) INFO server\.audit\.services entry (\d+) ([0-9a-f]{64})")
NOTE = re.compile(r"(\d{20}) ([0-9a-f]{64}) (\d{20})\n")
# If the audit log has no entries, 64 zeros are recorded in place of the hash of the last entry.
NO_HASH = "0" * 64
NOTE_BYTES = 20 + 1 + 64 + 1 + 20 + 1


class LogFile(WatchedFileHandler):
    """A logging handler for a log file that other programs may rotate.

    If the folder of the file has been moved away, a new folder is created.
    """

    def _open(self) -> Any:
        Path(self.baseFilename).parent.mkdir(mode=0o700, exist_ok=True)
        return super()._open()


class Damaged(ValueError):
    """Raised if a file with records of the audit log is damaged or cannot be read."""


@dataclass(frozen=True, slots=True)
class End:
    """The number and hash of the audit log's last entry, and the number of its first entry with a keyed hash (HMAC)."""

    number: int
    hash: str
    keyed_from: int


def path_of_end() -> Path:
    return Path(settings.PODIUM_HOME) / "audit_head"


def path_of_lost_ends() -> Path:
    return Path(settings.PODIUM_HOME) / "audit_lost"


@dataclass(frozen=True, slots=True)
class Notes:
    """The contents of the two files outside the database that record the last entry of the audit log.

    `end` is the current record. `lost` contains earlier records of entries that the database no longer contained, for
    example after a backup was restored. `faults` has one sentence for each fault in the two files.
    """

    end: End | None
    lost: list[End]
    faults: list[str]


def notes() -> Notes:
    """Read the records of the audit log's last entry from two files outside the database.

    One file contains the current record. The other contains the records that `keep_lost_end` has copied. Each file is
    used even if the other one is damaged.
    """
    faults = []
    end_: End | None = None
    try:
        end_ = end()
    except Damaged as error:
        faults.append(str(error))
    lost, damaged = lost_ends()
    return Notes(end_, lost, [*faults, *damaged])


def end() -> End | None:
    """Return the last entry of the audit log according to the external records, or None if there is no record.

    Raises Damaged if the file with the record is damaged or cannot be read.
    """
    text = text_of(path_of_end())
    return parsed(text, path_of_end()) if text else None


def text_of(path: Path) -> str:
    """Return the content of a file with records of the audit log, or an empty string if the file is missing."""
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Damaged(f"{path} cannot be read ({error.strerror})") from error


def parsed(text: str, path: Path) -> End:
    found = NOTE.fullmatch(text)
    if found is None:
        raise Damaged(f"{path} is damaged")
    return End(int(found[1]), found[2], int(found[3]))


def note(number: int, hashed: str, *, is_back: bool = False) -> None:
    """Record the last entry of the audit log in a file.

    By default, nothing is recorded if the file contains an entry with the same or a higher number. Set `is_back` after
    a backup has been restored, because the last entry may then have a lower number.
    """
    descriptor = os.open(path_of_end(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        text = os.pread(descriptor, 2 * NOTE_BYTES, 0).decode(errors="replace")
        known = parsed(text, path_of_end()) if text else None
        if known is None or number > known.number or is_back:
            keyed_from = known.keyed_from if known else number
            os.pwrite(descriptor, f"{number:020d} {hashed} {keyed_from:020d}\n".encode(), 0)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def keep_lost_end(number: int, hashed: str) -> None:
    """Copy the record of the last entry to a second file if the database no longer contains this entry.

    `number` and `hashed` describe the last entry in the database. An entry is recorded only after its transaction has
    been committed. If the recorded number is higher, entries were lost, for example because a backup was restored.
    Call this function while the row of the model `Head` is locked.
    """
    try:
        known = end()
        if known is not None and known.number > number:
            with path_of_lost_ends().open("a") as file:
                file.write(path_of_end().read_text())
            note(number, hashed or NO_HASH, is_back=True)
    except (Damaged, OSError):
        # A damaged record of the last audit log entry must not prevent the action that is being logged. `verify_audit`
        # reports the damage.
        log.exception("the record of the last audit log entry cannot be compared with the database")


def lost_ends() -> tuple[list[End], list[str]]:
    """Return the entries that `keep_lost_end` has recorded as lost, and the faults in the file with these records.

    Entries are lost, for example, when an older backup of the database is restored.
    """
    path, found, faults = path_of_lost_ends(), [], []
    try:
        for number, line in enumerate(text_of(path).splitlines(keepends=True), 1):
            if NOTE.fullmatch(line):
                found.append(parsed(line, path))
            else:
                faults.append(f"{path} is damaged in line {number}")
    except Damaged as error:
        faults.append(str(error))
    return found, faults


def log_time(at: datetime) -> str:
    """Format a UTC time like the times in the log files, so that they can be compared as strings."""
    return f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}"


def logged_entries(path: Path) -> Iterator[tuple[tuple[int, str], str]]:
    """Yield the number, hash and time of every audit entry in a log file, as ((number, hash), time).

    Raises Damaged if the file cannot be read to the end.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", errors="replace") as lines:
            for line in lines:
                if entry := LOGGED.match(line):
                    yield (int(entry[2]), entry[3]), entry[1]
    except (OSError, EOFError, zlib.error) as error:
        raise Damaged(f"{path} cannot be read to the end ({getattr(error, 'strerror', None) or error})") from error


def own_logs() -> list[Path]:
    """Return the paths of the log files in the `logs` folder of this installation, including rotated log files."""
    return sorted(path for path in Path(settings.PODIUM_HOME).glob("logs/*.log*") if path.is_file())
