"""Tests `verify_audit` with audit logs in which an earlier version of Podium recorded a restored backup.

These records contain only the numbers of the first and last missing entries, not the hashes of missing entries.
"""

from typing import Any

from server.audit import external_records
from server.audit.models import Entry
from server.audit.services import record
from tests.server.audit.test_keys import cut_after, own_home, verified, write

__all__ = ["own_home", "write"]  # pytest finds these imported fixtures by name.


def record_without_hashes(first: int, last: int) -> None:
    """Record a restored backup without the hashes of the missing entries, as earlier versions of Podium did."""
    record(actor=None, action="audit.restored", subject="audit", detail={"first": first, "last": last})


def log_all(at: str) -> None:
    """Append all audit entries to the file `audit.log`, as if they had been logged at the given time."""
    path = external_records.path_of_end().with_name("logs") / "audit.log"
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        for entry in Entry.objects.order_by("number"):
            file.write(f"{at} INFO server.audit.services entry {entry.number} {entry.hash}\n")


def test_entries_that_no_log_file_contains_are_reported_despite_a_restore_without_hashes(write: Any) -> None:
    """The command `verify_audit` reports the missing entry, because no record contains the hash of this entry.

    After `verify_audit --restored` has recorded the restored backup again, with hashes, nothing is reported.
    """
    write(5)
    cut_after(3)
    record_without_hashes(4, 5)
    code, said = verified()
    assert code == 2
    assert (
        "entries 5 to 5 are missing. Entry 4 records that a backup was restored. It was written by an earlier" in said
    )
    assert verified("--restored")[0] == 0
    assert verified()[0] == 0


def test_entries_that_were_logged_before_a_restore_without_hashes_are_not_reported(write: Any) -> None:
    write(5)
    log_all("2001-01-01 00:00:00,000")
    cut_after(3)
    record_without_hashes(4, 5)
    assert verified()[0] == 0


def test_entries_that_were_logged_after_a_restore_without_hashes_are_reported(write: Any) -> None:
    """New entries get the numbers of the entries that were missing in the restored backup.

    If new entries are deleted, their numbers are therefore among those recorded as missing. The time in the log file
    shows that they were written after the restore.
    """
    write(9)
    log_all("2001-01-01 00:00:00,000")
    cut_after(3)
    record_without_hashes(4, 9)
    write(4)
    log_all("2999-01-01 00:00:00,000")
    cut_after(6)
    code, said = verified()
    assert code == 2
    assert "entries 7 to 8 are missing. A backup was restored, or the end of the log was deleted" in said
