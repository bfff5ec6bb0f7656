"""Keeps a migrated SQLite file and a migrated PostgreSQL database for all tests.

Test databases are copies of them, because applying all migrations takes 14 seconds of CPU time.
"""

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "tests"
# Each checkout of the project uses databases with a different prefix, because checkouts may share a PostgreSQL server.
PREFIX = f"podium_{sha256(str(ROOT).encode()).hexdigest()[:8]}"


@cache
def state() -> str:
    """Return a digest of the current migrations and the Django version."""
    digest = sha256(version("Django").encode())
    modules = {migration.__module__ for migration in MigrationLoader(None).disk_migrations.values()}
    for module in sorted(modules):
        digest.update(Path(str(__import__(module, fromlist=["Migration"]).__file__)).read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def alone() -> Iterator[None]:
    """Run the `with` block in only one test process at a time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def migrate(url: str) -> None:
    with tempfile.TemporaryDirectory(prefix="podium-migrate-") as home:
        environment = os.environ | {"DATABASE_URL": url, "PODIUM_HOME": home, "REDIS_URL": ""}
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, check=True, cwd=ROOT, env=environment | {"DJANGO_SETTINGS_MODULE": "server.settings"})


def migrated_file() -> Path:
    """Return the path of an SQLite file to which all current migrations have been applied."""
    kept = FOLDER / f"{state()}.sqlite3"
    with alone():
        if not kept.exists():
            for older in FOLDER.glob("*.sqlite3*"):
                older.unlink()
            new = FOLDER / "new.sqlite3"
            migrate(f"sqlite:///{new}")
            new.replace(kept)
    return kept


def copy_file(home: Path) -> None:
    """Create the migrated SQLite file of a service in its folder, unless there already is one."""
    if not (target := home / "podium.sqlite3").exists():
        shutil.copyfile(migrated_file(), target)
        with closing(sqlite3.connect(target)) as database, database:
            database.execute("UPDATE runtime_installation SET key = ?", [uuid.uuid4().hex])


def migrated_template(server: str) -> str:
    """Return the name of a PostgreSQL database to which all current migrations have been applied."""
    name = f"{PREFIX}_{state()}"
    with alone(), psycopg.connect(server, autocommit=True) as database:
        pattern = PREFIX.replace("_", r"\_") + r"\_" + "_" * len(state())
        query = "SELECT datname FROM pg_database WHERE datname LIKE %s"
        found = [older for (older,) in database.execute(query, [pattern])]
        if name in found:
            return name
        for older in found:
            database.execute(f'DROP DATABASE "{older}" WITH (FORCE)')
        database.execute(f'DROP DATABASE IF EXISTS "{PREFIX}_new" WITH (FORCE)')
        database.execute(f'CREATE DATABASE "{PREFIX}_new"')
        migrate(f"{server.rsplit('/', 1)[0]}/{PREFIX}_new")
        database.execute(f'ALTER DATABASE "{PREFIX}_new" RENAME TO "{name}"')
    return name


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> Iterator[None]:
    """Make Django create its test database as a copy of the migrated one."""
    if connection.vendor == "postgresql":
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated_template(os.environ["DATABASE_URL"])
        yield
        return
    creation: Any = connection.creation
    with closing(sqlite3.connect(creation._get_test_db_name(), uri=True)) as target:
        with closing(sqlite3.connect(migrated_file())) as source:
            source.backup(target)
        yield
