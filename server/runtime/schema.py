"""Creates or migrates the tables that this version needs, and rejects a database migrated by a newer version."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from server.runtime.home import NotStarted

WAIT_SECONDS = 120.0
RETRY_SECONDS = 1.0
# key of the PostgreSQL advisory lock for migrations: an arbitrary number that nothing else uses in this database
LOCK = 7_306_141


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
        call_command("migrate", interactive=False, verbosity=0)


@contextmanager
def alone(database: BaseDatabaseWrapper) -> Iterator[None]:
    """Run the block in only one process at a time.

    With SQLite, no lock is needed, because the process has already locked its folder.
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
    """Wait until a web part has migrated the database to this version. Raises NotStarted if that takes too long."""
    until = time.monotonic() + WAIT_SECONDS
    while count := missing(database):
        if time.monotonic() > until:
            raise NotStarted(
                f"{count} migrations of this version have not been applied to the database. Start the web part of "
                "this version, which migrates the database, or run `manage.py migrate`."
            )
        time.sleep(RETRY_SECONDS)
