"""`manage.py backup OUT`: copy the database and the files it refers to into a new folder while the service runs."""

import shutil
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from tqdm import tqdm

from server.accounts.audited_command import AuditedCommand
from server.runtime.backup import database, files
from server.runtime.backup.manifest import Manifest, Unusable, checksum
from server.runtime.models import Installation
from server.runtime.shared_keys import KEYS, fingerprints

INCOMPLETE = 1
SECRETS = (
    "The backup contains the hidden ground truth and personal data, so store it where nobody else can read "
    "it.\nIt does not contain the secret keys. Without these keys, parts of the backup cannot be used, so copy "
    "them to another safe place: {keys}."
)


class Command(AuditedCommand):
    accepts_other_keys = True  # The command writes no audit entry.
    help = (
        "Copy the database, uploads, ground truths and the records of the audit log into a new folder. The "
        f"service can keep running. The exit status is {INCOMPLETE} if a file that the database refers to is "
        "missing from the storage, cannot be read or is damaged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("out", type=Path, metavar="OUT", help="the folder to create")

    def handle(self, *, out: Path, **options: Any) -> None:
        partial = out.with_name(f"{out.name}.partial")
        try:
            manifest, faults = complete(out, partial)
        except Unusable as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"The backup cannot be written: {error.strerror or error}.") from error
        keys = ", ".join(f"PODIUM_HOME/{name.lower()} or {name}" for name in KEYS)
        self.stdout.write(f"{out}: {len(manifest.files)} files, {manifest.size_bytes / 1e6:.1f} MB, {manifest.made_at}")
        self.stdout.write(SECRETS.format(keys=keys))
        if faults:
            raise CommandError("\n".join(["The backup is incomplete:", *faults]), returncode=INCOMPLETE)


def complete(out: Path, partial: Path) -> tuple[Manifest, list[str]]:
    """Write a backup into the folder `partial`, and rename it when it is complete.

    The folder is removed after an error.
    """
    for folder in (out, partial):
        if folder.exists():
            raise Unusable(f"{folder} already exists. Choose another name, or remove it.")
    try:
        partial.mkdir(mode=0o700, parents=True)
        manifest, faults = written(partial)
        manifest.write(partial)
        partial.rename(out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return manifest, faults


def written(folder: Path) -> tuple[Manifest, list[str]]:
    """Write the files of a backup. Return its manifest, and a sentence for each missing, unreadable or damaged file."""
    manifest = Manifest(datetime.now(UTC).isoformat(), connection.vendor, applied_migrations(), "", fingerprints())
    faults = []
    for record in files.audit_records():
        try:
            path = files.copy_audit_record(record, folder)
            manifest.files[path] = checksum(folder / path)
        except files.Unreadable as error:
            faults.append(str(error))
    with database.snapshot(folder) as query:
        manifest.made_at = datetime.now(UTC).isoformat()
        manifest.installation = installation_id(query)
        wanted = files.wanted(query)
    dump = database.FILES[connection.vendor]
    manifest.files[dump] = checksum(folder / dump)
    for path, one in tqdm(wanted.items(), desc="copying files", disable=None, leave=False):
        try:
            manifest.files[path] = files.copied(one, folder)
        except FileNotFoundError:
            if files.is_still_named(one):
                faults.append(f"{path} is missing from the storage.")
            continue
        except files.Unreadable as error:
            faults.append(str(error))
            continue
        if one.sha256 and manifest.files[path].sha256 != one.sha256:
            faults.append(f"{path} is damaged in the storage: its checksum differs from that of the upload.")
    return manifest, faults


def installation_id(query: database.Query) -> str:
    """Return the id of the installation, or an empty string if the database was created by a version without ids."""
    if Installation._meta.db_table not in connection.introspection.table_names():
        return ""
    return str(query(f"SELECT key FROM {Installation._meta.db_table}")[0][0])


def applied_migrations() -> list[str]:
    return sorted(".".join(one) for one in MigrationRecorder(connection).applied_migrations())
