"""Nothing is lost if a worker cannot read the stored files, or if the database is older than the files."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended, counted, once, upload_all
from tests.flows.running import Running, wait_for

pytestmark = pytest.mark.processes

ALL = 20
AGE_ALL = """
import os, sys, time
from pathlib import Path
before = time.time() - 48 * 3600
for path in Path(sys.argv[1]).rglob("*"):
    if path.is_file():
        os.utime(path, (before, before))
"""


@contextmanager
def worker_elsewhere(service: Running, home: Path) -> Iterator[Path]:
    """Start a worker with the same database and broker but without the stored files, as if on another machine."""
    home.mkdir()
    told = service.run("-c", "from server import settings as s; print(s.REDIS_URL)").stdout.strip()
    database = service.environment.get("DATABASE_URL") or f"sqlite:///{service.home / 'podium.sqlite3'}"
    key = (service.home / "secret_key").read_text()
    environment = {"PODIUM_HOME": str(home), "REDIS_URL": told, "DATABASE_URL": database, "SECRET_KEY": key}
    before, log = service.environment, home / "worker.log"
    service.environment = {**before, **environment}
    words = ("-m", "celery", "-A", "worker", "worker", "--loglevel", "INFO", "--hostname", "elsewhere@drill")
    with log.open("wb") as output:
        process = service.popen(*words, stdout=output, stderr=output)
    service.environment = before
    try:
        wait_for(lambda: b"ready" in log.read_bytes())
        yield log
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.drill(24)
def test_a_worker_that_cannot_read_the_files_does_not_fail_submissions(
    opened: Open, small: Path, figures: Figures, tmp_path: Path
) -> None:
    service = opened()
    content = (small / "predictions.csv").read_bytes()
    with worker_elsewhere(service, tmp_path / "elsewhere") as log:
        upload_all(service, content, count=ALL)
        seconds = all_ended(service, seconds=120)
        said = log.read_text()
    seen = counted(service)
    blamed = service.rows("SELECT count(*) FROM submissions_submission WHERE fault != ''")[0][0]
    met, idle = said.count("cannot be scored here"), said.count("takes no jobs")
    figures(
        f"{seen}, {blamed} blamed on anybody; the worker without files met {met}, then said {idle} times that it takes "
        f"no work; all ended {seconds:.0f} s after the uploads"
    )
    assert blamed == 0
    assert seen == once(ALL, attempts=ALL)
    assert 1 <= met <= 2 * int(service.environment["WORKER_PROCESSES"])
    assert idle > 0


@pytest.mark.drill(27)
@pytest.mark.embedded
def test_no_file_is_lost_if_the_database_is_older_than_the_files(opened: Open, small: Path, figures: Figures) -> None:
    service = opened()
    content = (small / "predictions.csv").read_bytes()
    upload_all(service, content, count=5)
    all_ended(service, seconds=60)
    backup, newest = service.home.parent / "older.sqlite3", service.home.parent / "newest.sqlite3"
    copy_rows(service, backup)
    upload_all(service, content, count=ALL)
    assert service.run("manage.py", "import_challenge", str(another(small))).returncode == 0
    all_ended(service, seconds=120)
    copy_rows(service, newest)
    before = files_of(service)
    service.stop_processes()
    restore(service, backup)
    assert service.run("-c", AGE_ALL, str(service.home / "uploads")).returncode == 0
    assert service.run("-c", AGE_ALL, str(service.home / "truths")).returncode == 0
    swept = [service.run("manage.py", "sweep").stdout for _ in range(3)]
    after, listed = files_of(service), service.run("manage.py", "quarantine").stdout
    restore(service, newest)
    back = service.run("manage.py", "sweep").stdout
    again = files_of(service)
    moved = len([path for path in after if "quarantine" in path.parts])
    figures(
        f"{len(before)} files, {moved} of them in quarantine after 3 sweeps, {len(before) - len(after)} gone; "
        f"all but {len(before - again)} back in place with the newer rows"
    )
    assert moved >= ALL
    assert names(after) == names(before)
    assert f"{moved} in quarantine" in listed
    assert again == before, [*swept, back]


def another(bundle: Path) -> Path:
    """Write a copy of the challenge bundle with a new slug. The drill imports it after a backup of the database.

    When the backup is restored, the ground truth files of this challenge exist, but no database row refers to them.
    """
    copy = bundle.parent / f"{bundle.name}-newer"
    shutil.copytree(bundle, copy, dirs_exist_ok=True)
    sheet = copy / "challenge.yaml"
    sheet.write_text(sheet.read_text().replace("slug: flows", "slug: newer"))
    return copy


def copy_rows(service: Running, to: Path) -> None:
    with closing(sqlite3.connect(service.home / "podium.sqlite3")) as rows, closing(sqlite3.connect(to)) as copy:
        rows.backup(copy)


def restore(service: Running, backup: Path) -> None:
    for leftover in service.home.glob("podium.sqlite3*"):
        leftover.unlink()
    shutil.copy(backup, service.home / "podium.sqlite3")


def files_of(service: Running) -> set[Path]:
    """Return the paths of all files in the folders for uploads and ground truths."""
    roots = (service.home / "uploads", service.home / "truths")
    return {path.relative_to(service.home) for root in roots for path in root.rglob("*") if path.is_file()}


def names(files: set[Path]) -> set[str]:
    return {path.name for path in files}
