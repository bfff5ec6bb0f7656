"""Copies the database as a consistent snapshot while the service runs, and restores the copy."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from server.runtime.backup.manifest import Unusable

Query = Callable[[str], Sequence[tuple[Any, ...]]]
FILES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}


@contextmanager
def snapshot(folder: Path) -> Iterator[Query]:
    """Copy the database to a folder. Yield a function that queries exactly the state that was copied."""
    copy = folder / FILES[connection.vendor]
    with _of_sqlite(copy) if connection.vendor == "sqlite" else _of_postgres(copy) as query:
        yield query


@contextmanager
def _of_sqlite(copy: Path) -> Iterator[Query]:
    copy.touch(mode=0o600)
    with closing(sqlite3.connect(copy)) as target:
        try:
            with closing(sqlite3.connect(f"file:{sqlite_path()}?mode=ro", uri=True)) as source:
                source.backup(target)
            # Turn off the write-ahead log, so that the copied database consists of one file.
            target.execute("PRAGMA journal_mode=DELETE")
            found = target.execute("PRAGMA integrity_check").fetchone()[0]
        except sqlite3.Error as error:
            raise Unusable(f"The database cannot be copied to {copy.parent} ({error}).") from error
        if found != "ok":
            raise Unusable(f"The database is damaged ({found}). Restore an earlier backup.")
        yield lambda sql: target.execute(sql).fetchall()


@contextmanager
def _of_postgres(copy: Path) -> Iterator[Query]:
    """Dump the PostgreSQL database with pg_dump.

    The dump is made from the snapshot of an open transaction. The yielded function runs its queries in the same
    transaction, so it reads the data that was dumped.
    """
    with closing(connection.get_new_connection(connection.get_connection_params())) as own:
        own.autocommit = False
        own.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        (name,) = own.execute("SELECT pg_export_snapshot()").fetchone()
        copy.touch(mode=0o600)
        run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--snapshot={name}", f"--file={copy}")
        yield lambda sql: own.execute(sql).fetchall()


def sqlite_path() -> Path:
    """Return the path of the database file. Raises Unusable for a database in memory, which has no file."""
    name = str(connection.settings_dict["NAME"])
    if "memory" in name and not Path(name).is_file():
        raise Unusable("An in-memory database cannot be copied.")
    return Path(name)


def run(program: str, *options: str) -> None:
    """Run a PostgreSQL program on the configured database. Raises Unusable with the program's error message."""
    words, env = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    *address, name = words[1:]
    try:
        done = subprocess.run(
            [program, *address, *options, f"--dbname={name}"],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise Unusable(f"{program} is not installed. Install the client programs of PostgreSQL.") from None
    if done.returncode:
        raise Unusable(f"{program} failed: {done.stderr.strip()}")


def refuse_unless_replaceable() -> None:
    """Raise Unusable if the PostgreSQL database cannot be replaced, because it contains tables or is in use.

    An SQLite file can always be replaced, because it is moved away first.
    """
    if connection.vendor == "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        (clients,) = cursor.fetchone()
        tables = connection.introspection.table_names(cursor)
    connection.close()
    name = connection.settings_dict["NAME"]
    if clients:
        raise Unusable(f"{clients} other clients are using the database {name}. Stop the service on every host first.")
    if tables:
        raise Unusable(
            f"The database {name} is not empty. Create an empty one (createdb) and set DATABASE_URL to it, or drop "
            "the old one."
        )


def put_back(folder: Path) -> Path | None:
    """Replace the database with the copy in a backup.

    Return the folder with the replaced SQLite files, or None if there were none.
    """
    copy = folder / FILES[connection.vendor]
    if connection.vendor == "postgresql":
        run("pg_restore", "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", str(copy))
        return None
    connection.close()
    return replace_sqlite(sqlite_path(), copy)


def replace_sqlite(target: Path, copy: Path) -> Path | None:
    """Replace an SQLite database with a copy. Return the folder with the replaced files, or None if there were none.

    Raises Unusable if the copy does not fit on the disk. The database is moved away only after it has been copied.
    """
    new = target.with_name(f"{target.name}.restored")
    new.touch(mode=0o600)
    try:
        with copy.open("rb") as source, new.open("wb") as file:
            shutil.copyfileobj(source, file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        new.unlink(missing_ok=True)
        problem = f"The database in the backup cannot be copied to {new} ({error.strerror})"
        raise Unusable(f"{problem}. {target} was not changed. Correct this, and run the command again.") from error
    replaced = _moved_away(target)
    new.replace(target)
    return replaced


def _moved_away(database: Path) -> Path | None:
    """Move all files of an SQLite database to another folder.

    If a `-wal` file were left in place, it would change the content of the restored database.
    """
    files = [path for end in ("", "-wal", "-shm") if (path := database.with_name(database.name + end)).exists()]
    if not files:
        return None
    replaced = database.parent / f"replaced-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    replaced.mkdir(mode=0o700)
    for path in files:
        path.rename(replaced / path.name)
    return replaced
