"""A backup of a running service, restored on an empty machine, has the same leaderboards and loses no file."""

import json
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.drills.conftest import FAST, Figures, Open
from tests.drills.counting import all_ended, counted, upload_all, uploading
from tests.flows.postgres import own_database
from tests.flows.running import Running

pytestmark = pytest.mark.processes

KEYS = ("secret_key", "audit_key", "signing_key")
BEFORE, DURING = 12, 30


def boards(service: Running, times: list[str]) -> list[Any]:
    """Return the leaderboard of the main phase as it was at each of the given times."""
    path = "/api/v1/challenges/flows/phases/main/leaderboard"
    found = [service.ask("GET", f"{path}?at={at}") for at in times]
    assert {status for status, _ in found} == {200}
    return [board["results"] for _, board in found]


def written_backup(service: Running, small: Path, out: Path) -> list[str]:
    """Upload files in three batches, then write a backup while further files are being uploaded.

    Return the time after each batch.
    """
    content = (small / "predictions.csv").read_bytes()
    times = []
    for _ in range(3):
        upload_all(service, content, count=BEFORE // 3)
        all_ended(service, seconds=60)
        time.sleep(1)  # A score is part of earlier leaderboards from the next whole second on.
        times.append(service.run("-c", "from datetime import *; print(datetime.now(UTC).isoformat()[:19] + 'Z')"))
    with uploading(service, content, count=DURING):
        done = service.run("manage.py", "backup", str(out))
        assert done.returncode == 0, done.stdout + done.stderr
    all_ended(service, seconds=120)
    return [one.stdout.strip() for one in times]


def restored(home: Path, keys: dict[str, bytes], out: Path, **more: Any) -> Running:
    """Restore the backup into a folder that contains only the secret keys, and start the service."""
    home.mkdir()
    for name, key in keys.items():
        (home / name).write_bytes(key)
    service = Running(home, **{**FAST, **more})
    done = service.run("manage.py", "restore", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    return service.start()


def lose_and_restore(service: Running, small: Path, figures: Figures, tmp_path: Path, **more: Any) -> None:
    out = tmp_path / "backup"
    times = written_backup(service, small, out)
    before = boards(service, times)
    keys = {name: (service.home / name).read_bytes() for name in KEYS}
    taken_in_all = counted(service).taken
    service.signal_all("", signal.SIGKILL)
    shutil.rmtree(service.home)
    again = restored(tmp_path / "again", keys, out, **more)
    try:
        again.token = service.token
        all_ended(again, seconds=120)
        swept = again.run("manage.py", "sweep")
        checks = {name: again.run("manage.py", name).returncode for name in ("verify_audit", "verify_board")}
        seen, after = counted(again), boards(again, times)
        stored = set(json.loads((out / "manifest.json").read_text())["files"])
        kept = {f"uploads/{name}" for (name,) in again.rows("SELECT file FROM submissions_submission WHERE file <> ''")}
        present = all((again.home / path).is_file() for path in kept)
    finally:
        again.stop()
    figures(
        f"{taken_in_all} received, {seen} after the restore; {len(times)} earlier leaderboards equal: {before == after}"
    )
    assert swept.returncode == 0
    assert checks == {"verify_audit": 0, "verify_board": 0}
    assert before == after
    assert before[0]
    assert BEFORE <= seen.taken == seen.scored
    assert (seen.lost, seen.twice) == (0, 0)
    assert kept <= stored
    assert present


@pytest.mark.drill(29)
@pytest.mark.embedded
def test_a_backup_of_a_running_service_can_be_restored_on_sqlite(
    opened: Open, small: Path, figures: Figures, tmp_path: Path
) -> None:
    lose_and_restore(opened(), small, figures, tmp_path)


@pytest.mark.drill(30)
def test_a_backup_of_a_running_service_can_be_restored_on_postgresql(
    opened: Open, small: Path, figures: Figures, tmp_path: Path, postgres: str
) -> None:
    with own_database(migrated=False) as empty:
        lose_and_restore(opened(DATABASE_URL=postgres), small, figures, tmp_path, DATABASE_URL=empty)
