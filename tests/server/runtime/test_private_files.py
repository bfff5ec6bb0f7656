"""Only the user who runs the service can read its files, except static files, which a web server must read."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OPEN = 0o022  # The usual umask allows everybody to read new files.
COLLECTED = """
from server.settings import *
STATIC_ROOT, STATICFILES_DIRS = PODIUM_HOME.parent / "collected" / "static", [PODIUM_HOME.parent / "given"]
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
"""


def run(home: Path, *words: str, settings: str = "server.settings") -> str:
    environment = {**os.environ, "PODIUM_HOME": str(home), "DJANGO_SETTINGS_MODULE": settings}
    environment["PYTHONPATH"] = str(home.parent)
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True, umask=OPEN
    ).stdout


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("private") / "home"
    run(home, "manage.py", "migrate", "--verbosity", "0")
    return home


def test_only_the_owner_can_access_the_state_folder(home: Path) -> None:
    assert mode_of(home) == 0o700


def test_no_file_in_the_state_folder_is_readable_by_other_users(home: Path) -> None:
    written = [home / "podium.sqlite3", *home.rglob("*")]
    assert {path: mode_of(path) & 0o077 for path in written} == dict.fromkeys(written, 0)


def test_the_web_process_sets_the_umask_without_manage_py(home: Path) -> None:
    assert run(home, "-c", "import os, server.wsgi; print(oct(os.umask(0)))") == "0o77\n"


def test_collected_static_files_are_readable_by_every_user(tmp_path: Path) -> None:
    (tmp_path / "given" / "deep").mkdir(parents=True)
    (tmp_path / "given" / "deep" / "page.css").write_text("p { color: #000 }\n" * 100)
    (tmp_path / "collecting.py").write_text(COLLECTED)
    run(tmp_path / "home", "manage.py", "collectstatic", "--noinput", "--verbosity", "0", settings="collecting")
    built = [*(tmp_path / "collected").rglob("*")]
    assert {path.suffix for path in built} >= {".css", ".gz", ".json"}
    assert {path: mode_of(path) & 0o044 for path in built} == dict.fromkeys(built, 0o044)
