"""Creates or migrates the tables that this version needs, and rejects a database migrated by a newer version."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from server.runtime.home import NotAvailable, NotStarted

WAIT_SECONDS = 120.0
RETRY_SECONDS = 1.0
# key of the PostgreSQL advisory lock for migrations: an arbitrary number that nothing else uses in this database
LOCK = 7_306_141
# A migration waits this long for a lock, which is less than PostgreSQL's `deadlock_timeout` of one second. After
# LOCK_ATTEMPTS attempts, the migration is run without this limit.
LOCK_MILLISECONDS = 500
LOCK_ATTEMPTS = 30
LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL's error code for a lock that could not be acquired in time


def refuse_newer(database: BaseDatabaseWrapper) -> None:
    """Raise NotStarted if the database has migrations that are not part of this version.

    Migrations of apps that are not installed are ignored.
    """
    loader = MigrationLoader(database)
    own = (one for one in loader.applied_migrations if one[0] in loader.migrated_apps)
    if unknown := unknown_migrations(own, loader):
        raise NotStarted(
            f"The database was migrated by a newer version of Podium (migration {unknown[-1]}). Start that version, or "
            "restore a backup from before the upgrade."
        )


def unknown_migrations(applied: Iterable[tuple[str, str]], loader: MigrationLoader) -> list[str]:
    """Return a sorted list of the applied migrations that are not part of this version, in the form "app.name"."""
    return sorted(f"{app}.{name}" for app, name in set(applied) - loader.disk_migrations.keys())


def missing(database: BaseDatabaseWrapper) -> int:
    """Return how many migrations of this version of Podium have not been applied to the database."""
    executor = MigrationExecutor(database)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def migrate(database: BaseDatabaseWrapper) -> None:
    """Create or migrate the tables that this version needs.

    If several web hosts start at the same time, the first one does this, and the others wait.
    """
    with alone(database):
        for _ in range(LOCK_ATTEMPTS):
            with short_locks(database), suppress_lock_timeout():
                call_command("migrate", interactive=False, verbosity=0)
                return
            time.sleep(RETRY_SECONDS)
        call_command("migrate", interactive=False, verbosity=0)


@contextmanager
def short_locks(database: BaseDatabaseWrapper) -> Iterator[None]:
    """Make statements in the block fail if they wait longer than LOCK_MILLISECONDS for a lock.

    A migration that changes several tables can deadlock with a request that reads them. PostgreSQL resolves a deadlock
    after a second, and may abort the request. With this limit, the migration fails before that. It is then rolled back
    and can be repeated.
    """
    if database.vendor != "postgresql":
        yield
        return
    with database.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {LOCK_MILLISECONDS}")
    try:
        yield
    finally:
        with database.cursor() as cursor:
            cursor.execute("RESET lock_timeout")


@contextmanager
def suppress_lock_timeout() -> Iterator[None]:
    """Suppress the error of a statement that has waited too long for a lock."""
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != LOCK_NOT_AVAILABLE:
            raise


@contextmanager
def alone(database: BaseDatabaseWrapper) -> Iterator[None]:
    """Run the block in only one process at a time.

    With SQLite, no lock is needed, because the service has already locked its state folder.
    """
    if database.vendor != "postgresql":
        yield
        return
    with database.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def wait_until_migrated(database: BaseDatabaseWrapper) -> None:
    """Wait until a web part has migrated the database to this version. Raises NotAvailable if that takes too long."""
    until = time.monotonic() + WAIT_SECONDS
    while count := missing(database):
        if time.monotonic() > until:
            raise NotAvailable(
                f"{count} migrations of this version have not been applied to the database. Start the web part of "
                "this version, which migrates the database, or run `manage.py migrate`."
            )
        time.sleep(RETRY_SECONDS)
