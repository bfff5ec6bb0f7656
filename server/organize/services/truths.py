"""Manages the versions of a phase's ground truth.

A new version is prepared when it is added, and becomes active through a rescoring.
"""

import json
import os
import shutil
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import Max
from django.db.models.fields.files import FieldFile

from evaluator.bundle import InvalidBundle
from evaluator.bundle.mistakes import ignore
from evaluator.bundle.salts import own_salt
from evaluator.problems import Problem
from evaluator.texts import counted
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.gate import current_settings
from server.challenges.models import Phase, Truth
from server.challenges.roles import Right, refuse_archived, refuse_without
from server.challenges.shaping import is_outdated, shaping_settings
from server.clock import database_now
from server.errors import Refused, full_disk
from server.organize.podium import TRUTH_AT_FAULT, run_podium
from server.organize.services import bundles, gates, kits, salts, statistics
from server.organize.services.new_files import NewFiles
from server.organize.services.preparing import Prepared, prepare, prepare_and_test
from server.stored_files.copies import is_local, local_copy
from server.submissions.models import Score


@dataclass(frozen=True, slots=True)
class TruthFolder:
    """A folder with a ground truth, together with the current settings of its phase.

    It is used for ground truths that are added without a bundle.
    """

    slug: str
    track: str
    parameters: dict[str, Any]
    public_share: float
    split_seed: int
    salt: str = field(repr=False)
    truth: Path
    sample: Path | None = None
    usage: None = None

    @classmethod
    def of(cls, phase: Phase, folder: Path, sample: Path | None) -> "TruthFolder":
        return cls(
            phase.slug,
            phase.track,
            phase.parameters,
            phase.public_share,
            phase.split_seed,
            phase.salt,
            truth=folder,
            sample=sample,
        )


def add(
    *, phase: Phase, path: Path, by: User | None, warn: Callable[[Problem], None] = ignore, reveal: bool = False
) -> Truth:
    """Store a ground truth, given as a folder or zip file, as the newest version of the phase's ground truth.

    A ground truth that is already stored keeps its version number. `warn` is called with every warning. Raises
    InvalidBundle with every fault. Raises Refused if private images would become public, unless `reveal` is true. Only
    owners may set `reveal`.
    """
    refuse_archived(phase.challenge)
    if reveal:
        refuse_without(Right.OWN, by=by, challenge=phase.challenge)
    with (
        bundles.opened(path) as folder,
        gates.sample_of(phase) as sample,
        TemporaryDirectory(prefix="truth-", dir=settings.FILE_UPLOAD_TEMP_DIR) as workspace,
    ):
        salts.refuse_other([(phase.slug, own_salt(folder), phase.salt)])
        source = TruthFolder.of(phase, folder, sample)
        prepared = prepare_and_test(source, Path(workspace), phase=phase, sample_sha256=phase.sample_sha256)
        for warning in prepared.warnings:
            warn(warning)
        # A ground truth that is already stored is checked for newly public images when a rescoring uses it.
        known = phase.truths.filter(sha256=prepared.sha256).exists()
        if not (known or reveal):
            refuse_newly_public(phase, prepared.compiled)
        with transaction.atomic(), NewFiles() as files:
            return write(phase, prepared, files, by=by)


def write(phase: Phase, prepared: Prepared, files: NewFiles, *, by: User | None) -> Truth:
    """Write the database row of a ground truth, in the caller's transaction.

    Outdated files of an existing version are replaced.
    """
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    if current_settings(locked) != current_settings(phase):
        raise Refused("invalid", "The settings of the phase have changed in the meantime. Add the ground truth again.")
    known = locked.truths.filter(sha256=prepared.sha256).first()
    if known is not None:
        if is_outdated(known, locked):
            return keep(locked, prepared, files)
        statistics.complete(known, prepared.statistics)
        gates.store(known, prepared.gate)
        return known
    refuse_lost_secrets(locked, prepared)
    truth = keep(locked, prepared, files)
    detail = {"version": truth.version, "sha256": truth.sha256}
    audit.record(actor=by, action="truth.added", subject=f"phase {phase}", detail=detail)
    return truth


def refuse_lost_secrets(phase: Phase, prepared: Prepared) -> None:
    """Raise Refused if a ground truth has no private images although the phase already has private scores."""
    private = Score.objects.filter(evaluation__submission__phase=phase, split="private")
    if not prepared.private and private.exists():
        raise Refused(
            "invalid", "This ground truth has no private images, but the active ground truth has some. Add a usage.csv."
        )


def keep(phase: Phase, prepared: Prepared, files: NewFiles) -> Truth:
    """Store the files of a ground truth in the version with the same content hash, or in a new version.

    The files of an existing version are replaced, because they may have been prepared with other parameters.
    """
    latest = phase.truths.aggregate(latest=Max("version"))["latest"] or 0
    known = phase.truths.filter(sha256=prepared.sha256).first()
    truth = known or Truth(phase=phase, version=latest + 1, sha256=prepared.sha256)
    truth.images, truth.prepared_with = prepared.images, shaping_settings(phase)
    truth.kit_made_with = kits.kit_settings(phase)
    if prepared.gate is not None:
        truth.gate = prepared.gate
    for kept, path, name in (
        (truth.prepared, prepared.compiled, "truth.podium"),
        (truth.source, prepared.source, "truth.zip"),
        (truth.kit, prepared.kit, kits.NAME),
    ):
        if kept:
            transaction.on_commit(partial(kept.storage.delete, str(kept.name)))
        files.store(kept, path, name=name)
    truth.save()
    statistics.store(truth, prepared.statistics)
    return truth


def activate(truth: Truth) -> None:
    """Make a version of the ground truth the active one of its phase. The caller must have locked the phase.

    If another version was active before, the new one must pass the gate (a series of checks), even if the previous
    version was exempt from it.
    """
    versions = Truth.objects.filter(phase=truth.phase_id)
    if not versions.filter(pk=truth.pk, active=True).exists():
        Phase.objects.filter(pk=truth.phase_id).update(gate_exempt=False)
    versions.update(active=False)
    versions.filter(pk=truth.pk).update(active=True, used=True)
    truth.refresh_from_db(fields=["active", "used"])


def refuse_newly_public(phase: Phase, later: Truth | Path) -> None:
    """Raise WouldReveal if a ground truth would make scores on private images public before the phase ends."""
    active = phase.truths.filter(active=True).first()
    if active is None or active == later or phase.shows_private(database_now()):
        return
    try:
        count = newly_public(active, later)
    except Unrestorable as error:
        consequence = f"{error}, so it is unknown what the new ground truth would reveal."
        raise WouldReveal(consequence, f"{consequence} To use it anyway, set `reveal` to true.") from error
    if count:
        consequence = (
            f"{counted(count, 'private image')} would become public, and participants would see scores on "
            f"{'it' if count == 1 else 'them'} before the phase ends."
        )
        raise WouldReveal(consequence, f"{consequence} Correct usage.csv, or set reveal if this is intended.")


class WouldReveal(Refused):
    """Raised if a ground truth would make private images public.

    `consequence` is the part of the message that describes the effect, without the advice that follows it.
    """

    def __init__(self, consequence: str, detail: str) -> None:
        super().__init__("invalid", detail)
        self.consequence = consequence


def newly_public(active: Truth, later: Truth | Path) -> int:
    """Return how many images are private in the active ground truth but public in `later`.

    `later` is a version or a prepared file. If the prepared file of a version is unreadable, the version is prepared
    again. Raises Unrestorable if that is not possible.
    """
    ended = reveals(active, later, expected=(0, TRUTH_AT_FAULT))
    if ended.returncode == TRUTH_AT_FAULT:
        for truth in [active] if isinstance(later, Path) else [active, later]:
            prepare_again(truth)
        ended = reveals(active, later)
    return int(json.loads(ended.stdout)["newly_public"])


def reveals(active: Truth, later: Truth | Path, *, expected: tuple[int, ...] = (0,)) -> "CompletedProcess[str]":
    """Return the completed `podium reveals` process, which counts images private in `active` but public in `later`."""
    with ExitStack() as copies:
        before = copies.enter_context(local_copy(active.prepared))
        after = later if isinstance(later, Path) else copies.enter_context(local_copy(later.prepared))
        return run_podium("reveals", str(before), str(after), "--json", expected=expected)


class Unrestorable(Exception):
    """Raised if the stored source of a ground truth cannot be read or no longer compiles to the same result."""


def bring_up_to_date(truth: Truth) -> None:
    """Prepare a version of the ground truth again if the settings of its phase have changed.

    Raises Refused if the version cannot be prepared.
    """
    if not is_outdated(truth, Phase.objects.get(pk=truth.phase_id)):
        return
    try:
        prepare_again(truth)
    except Unrestorable as error:
        detail = (
            f"Version {truth.version} was prepared with earlier settings of the phase, and its stored files cannot "
            "be prepared with the current settings. Add this ground truth again from its folder."
        )
        raise Refused("invalid", detail) from error


def prepare_again(truth: Truth) -> None:
    """Prepare a ground truth again from its stored source with the current settings, and replace its prepared file.

    Several processes can do this at the same time. Raises Unrestorable, or OSError if the disk is full. In both cases,
    the prepared file is unchanged.
    """
    phase = Phase.objects.get(pk=truth.phase_id)
    with TemporaryDirectory(prefix="truth-", dir=settings.FILE_UPLOAD_TEMP_DIR) as workspace:
        folder = Path(workspace) / "source"
        try:
            with truth.source.storage.open(str(truth.source.name)) as source, ZipFile(source) as archive:
                # The stored archive contains everything that is needed to prepare the ground truth, including the salt.
                archive.extractall(folder)
            with gates.sample_of(phase) as sample:
                prepared = prepare(TruthFolder.of(phase, folder, sample), Path(workspace))
        except (OSError, EOFError, BadZipFile, zlib.error, InvalidBundle) as error:
            if full_disk(error):
                raise
            raise Unrestorable(f"{truth} cannot be prepared from its source: {type(error).__name__}") from error
        if prepared.sha256 != truth.sha256:
            raise Unrestorable(
                f"{truth} was prepared again from its source files, but its SHA-256 differs from the recorded one"
            )
        replace_stored(truth.prepared, prepared.compiled)
    truth.prepared_with = shaping_settings(phase)
    Truth.objects.filter(pk=truth.pk).update(prepared_with=truth.prepared_with)
    statistics.store(truth, prepared.statistics)


def replace_stored(file: FieldFile, source: Path) -> None:
    """Replace a stored file atomically, on disk or in an object store."""
    if is_local(file.storage):
        replace_file(Path(file.path), source)
        return
    with source.open("rb") as content:
        file.storage.save(str(file.name), File(content))


def replace_file(target: Path, source: Path) -> None:
    """Replace a file atomically with a copy of another file. The copy has the file mode 600."""
    partial = target.with_name(f"{token_hex(16)}{target.suffix}")
    try:
        partial.touch(mode=0o600)
        shutil.copyfile(source, partial)
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        # If writing failed, for example because the disk is full, remove the incomplete file.
        partial.unlink(missing_ok=True)
