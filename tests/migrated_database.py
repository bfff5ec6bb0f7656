"""Keeps a migrated SQLite database for later test runs, because applying all migrations takes many seconds."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

FOLDER = Path(__file__).parents[1] / "build" / "tests"


def migrated() -> Path:
    """Return the path of the database file for the current migrations and Django version. The file may be missing."""
    digest = sha256(version("Django").encode())
    modules = {migration.__module__ for migration in MigrationLoader(None).disk_migrations.values()}
    for module in sorted(modules):
        digest.update(Path(str(__import__(module, fromlist=["Migration"]).__file__)).read_bytes())
    return FOLDER / f"{digest.hexdigest()[:16]}.sqlite3"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> Iterator[None]:
    """Copy the saved database into the in-memory test database, before Django migrates the test database."""
    if connection.vendor != "sqlite" or not (kept := migrated()).exists():
        yield
        return
    with closing(sqlite3.connect(connection.creation._get_test_db_name(), uri=True)) as target:
        with closing(sqlite3.connect(kept)) as source:
            source.backup(target)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Save a copy of the migrated database for later test runs, unless a copy already exists."""
    if connection.vendor != "sqlite" or (kept := migrated()).exists():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    new = kept.with_suffix(f".{id(kept)}")
    with django_db_blocker.unblock():
        connection.ensure_connection()
        with closing(sqlite3.connect(new)) as target:
            connection.connection.backup(target)
    for older in FOLDER.glob("*.sqlite3"):
        older.unlink()
    new.replace(kept)
