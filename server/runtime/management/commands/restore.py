"""`manage.py restore IN`: restore the database and the files of a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from tqdm import tqdm

from server.accounts.audited_command import path_argument, text_argument
from server.accounts.models import User
from server.audit.actors import acting, shell_actor, user_actor
from server.audit.external_records import own_logs
from server.audit.verification import Comparison, acknowledge
from server.challenges.truth_storage import storages
from server.runtime import joining, schema, shared_keys
from server.runtime.backup import database, files
from server.runtime.backup import manifest as manifests
from server.runtime.backup.manifest import Manifest, Unusable
from server.runtime.home import NotStarted, lock_home
from server.runtime.models import Installation


class Command(BaseCommand):
    help = (
        "Restore the database and the files from a backup, after verifying the checksum of every file. Stop the "
        "service first. Files that already exist are not overwritten, and an existing SQLite database is kept "
        "under another name."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("backup", type=path_argument, metavar="IN", help="a folder written by `manage.py backup`")
        parser.add_argument(
            "--other-keys",
            action="store_true",
            help="restore even if the secret keys differ; sessions, links in emails, and signatures of the audit "
            "log and of exported results can then no longer be verified",
        )
        parser.add_argument(
            "--as",
            dest="acts_for",
            type=text_argument,
            metavar="USERNAME",
            help="username to record in the audit log as the person who ran the command",
        )

    def handle(self, *, backup: Path, other_keys: bool, acts_for: str | None, **options: Any) -> None:
        try:
            with lock_home():
                with joining.explained():
                    joining.prepare_bucket(is_new=True)
                manifest = manifests.read(backup)
                refuse_unusable(manifest, other_keys=other_keys)
                files.refuse_other_records(backup)
                refuse_damaged(backup, manifest)
                database.refuse_unless_replaceable()
                self.restore(backup, manifest)
        except (Unusable, NotStarted) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            problem = f"The backup was not restored completely: {error.strerror or error}."
            advice = "Correct this, and run the command again. Files that are restored already are left as they are."
            raise CommandError(f"{problem} {advice}") from error
        self.record_missing_entries(acts_for)
        if has_earlier_secret_key(manifest):
            self.stdout.write(
                "SECRET_KEY was changed after the backup. Run `manage.py rotate_secret_key` before you remove "
                "SECRET_KEY_FALLBACKS."
            )
        self.stdout.write("Now run `manage.py verify_audit` and `manage.py verify_board`, and start the service.")

    def restore(self, backup: Path, manifest: Manifest) -> None:
        """Restore the files, then the database.

        If the database were restored first, the service could accept submissions that cannot be scored because files
        are missing.
        """
        new = 0
        for path, stored in tqdm(manifest.files.items(), desc="restoring files", disable=None, leave=False):
            if path != database.FILES[manifest.vendor]:
                new += files.put_back(path, stored, backup)
        replaced = database.put_back(backup)
        if replaced:
            self.stdout.write(f"The database that was replaced is in {replaced}. Remove it once everything works.")
        self.stdout.write(f"Restored: the database from {manifest.made_at}, and {new} files that were missing.")
        schema.migrate(connection)
        mark_storages()
        # Record the fingerprints of this host's secret keys as those of the installation. Without --other-keys, they
        # equal the fingerprints in the backup.
        shared_keys.note(shared_keys.KEYS)

    def record_missing_entries(self, username: str | None) -> None:
        """Record in the audit log which of its entries were made after the backup and are now missing.

        The missing entries are known only if this machine has records of the audit log that are newer than the backup.
        """
        if not (missing := Comparison(own_logs()).lost):
            return
        person = User.objects.filter(username__iexact=username, is_active=True).first() if username else None
        if username and person is None:
            self.stderr.write(
                f"The restored database has no active account {username!r}. The audit log records the operator instead."
            )
        with acting(user_actor(person) if person else shell_actor()):
            entry = acknowledge(missing)
        self.stdout.write(f"Entry {entry.number} of the audit log records that {len(missing)} entries are missing.")


def mark_storages() -> None:
    """Write the id of the restored installation to the storage backends that do not have an id yet."""
    installation = Installation.objects.get()
    for storage in storages().values():
        joining.check_storage(storage, installation, is_new=True)


def refuse_unusable(manifest: Manifest, *, other_keys: bool) -> None:
    """Raise Unusable if the backup does not match the configured database, this version, or the secret keys."""
    if manifest.vendor != connection.vendor:
        raise Unusable(
            f"The backup is from {manifest.vendor}, but DATABASE_URL refers to {connection.vendor}. Set it to a "
            f"{manifest.vendor} database."
        )
    applied = ((app, name) for app, _, name in (one.partition(".") for one in manifest.migrations))
    if newer := schema.unknown_migrations(applied, MigrationLoader(None)):
        raise Unusable(
            f"The backup was made by a later version of Podium, which has the migration {newer[-1]}. Restore it with "
            "that version."
        )
    for name, storage in storages().items():
        if joining.read_id(storage) not in ("", manifest.installation):
            advice = f"Restore into an empty storage. {files.MOVE_AWAY}"
            raise Unusable(f"The storage of {name} belongs to another installation. {advice}")
    # A backup from an earlier version may not contain the fingerprints of all keys. A missing fingerprint counts as
    # different.
    missing = dict.fromkeys(shared_keys.KEYS, "")
    differing = shared_keys.differing(missing | manifest.keys)
    if differing and not other_keys:
        places = ", ".join(f"{name} (or PODIUM_HOME/{name.lower()})" for name in differing)
        raise Unusable(
            f"These secret keys differ from the keys that were in use when the backup was made: {places}. Set the old "
            "keys first. If SECRET_KEY was changed on purpose, add the old one to SECRET_KEY_FALLBACKS instead. If the "
            "keys are lost, add --other-keys; `--help` explains what can then no longer be verified."
        )


def has_earlier_secret_key(manifest: Manifest) -> bool:
    """Return whether the backup was made with an earlier SECRET_KEY, which is in SECRET_KEY_FALLBACKS."""
    known = {"SECRET_KEY": manifest.keys.get("SECRET_KEY", "")}
    return known["SECRET_KEY"] != shared_keys.fingerprints()["SECRET_KEY"] and not shared_keys.differing(known)


def refuse_damaged(backup: Path, manifest: Manifest) -> None:
    """Compare every file with its checksum. Raise Unusable if one differs, before anything is restored."""
    found = manifests.faults(backup, manifest)
    progress = tqdm(found, total=len(manifest.files), desc="checking files", disable=None, leave=False)
    if faults := list(filter(None, progress)):
        raise Unusable("\n".join([f"{backup} is damaged, and nothing was restored:", *faults]))
