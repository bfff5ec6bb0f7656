"""A further version of a phase's truth: checked and compiled like the first, not used before a rescoring is applied."""

import json
import os
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from evaluator.problems import Problem
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase, Truth
from server.clock import database_now
from server.errors import Refused
from server.organize.podium import run_podium
from server.organize.services import salts
from server.organize.services.bundles import InvalidBundle, opened
from server.organize.services.bundles.mistakes import unheard
from server.organize.services.new_files import NewFiles
from server.organize.services.preparing import TRUTH_AT_FAULT, Prepared, prepare
from server.submissions.models import Score


@dataclass(frozen=True, slots=True)
class TruthFolder:
    """A truth without a bundle around it, for a phase as it stands."""

    slug: str
    track: str
    parameters: dict[str, Any]
    public_share: float
    split_seed: int
    salt: str = field(repr=False)
    truth: Path
    usage: None = None
    sample: None = None

    @classmethod
    def of(cls, phase: Phase, folder: Path) -> "TruthFolder":
        return cls(
            phase.slug, phase.track, phase.parameters, phase.public_share, phase.split_seed, phase.salt, truth=folder
        )


def add(
    *, phase: Phase, path: Path, by: User | None, warn: Callable[[Problem], None] = unheard, reveal: bool = False
) -> Truth:
    """Keep a truth folder, or a zip of one, as the phase's newest version. One that is there already is returned.

    Refused where images would be public that are private now, unless `reveal` allows it. `warn` gets every warning.
    Raises InvalidBundle with every fault of it.
    """
    with (
        opened(path) as folder,
        TemporaryDirectory(prefix="truth-", dir=settings.FILE_UPLOAD_TEMP_DIR) as workspace,
    ):
        salts.refuse_other([(phase.slug, salts.own_salt(folder), phase.salt)])
        prepared = prepare(TruthFolder.of(phase, folder), Path(workspace))
        for warning in prepared.warnings:
            warn(warning)
        known = phase.truths.filter(sha256=prepared.sha256).exists()  # compared when it is rescored to
        if not (known or reveal):
            refuse_newly_public(phase, prepared.compiled)
        with transaction.atomic(), NewFiles() as files:
            return write(phase, prepared, files, by=by)


def write(phase: Phase, prepared: Prepared, files: NewFiles, *, by: User | None) -> Truth:
    """Write the row, in the caller's transaction."""
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    known = locked.truths.filter(sha256=prepared.sha256).first()
    if known is not None:
        return known
    refuse_lost_secrets(locked, prepared)
    truth = keep(locked, prepared, files)
    detail = {"version": truth.version, "sha256": truth.sha256}
    audit.record(actor=by, action="truth.added", subject=f"phase {phase}", detail=detail)
    return truth


def refuse_lost_secrets(phase: Phase, prepared: Prepared) -> None:
    """A truth whose usage file was forgotten would publish what is private."""
    private = Score.objects.filter(evaluation__submission__phase=phase, split="private")
    if not prepared.private and private.exists():
        raise Refused("invalid", "This truth has no private images, and the present one has. Add its usage.csv.")


def keep(phase: Phase, prepared: Prepared, files: NewFiles) -> Truth:
    """Store the files of a truth, as the version that has its sha256 or else as the phase's next version.

    The files of a version that exists are replaced, because they may have been prepared with other parameters.
    """
    latest = phase.truths.aggregate(latest=Max("version"))["latest"] or 0
    known = phase.truths.filter(sha256=prepared.sha256).first()
    truth = known or Truth(phase=phase, version=latest + 1, sha256=prepared.sha256)
    truth.images = prepared.images
    for kept, path, name in (
        (truth.prepared, prepared.compiled, "truth.podium"),
        (truth.source, prepared.source, "truth.zip"),
    ):
        if kept:
            transaction.on_commit(partial(kept.storage.delete, str(kept.name)))
        files.store(kept, path, name=name)
    truth.save()
    return truth


def put_into_use(truth: Truth) -> None:
    """Make a version the active one of its phase, in the caller's transaction, which holds the phase."""
    versions = Truth.objects.filter(phase=truth.phase_id)
    versions.update(active=False)
    versions.filter(pk=truth.pk).update(active=True, used=True)
    truth.refresh_from_db(fields=["active", "used"])


def refuse_newly_public(phase: Phase, later: Truth | Path) -> None:
    """Refuse a truth that would show scores of private images before the phase ends."""
    active = phase.truths.filter(active=True).first()
    if active is None or active == later or phase.has_closed(database_now()):
        return
    try:
        count = newly_public(active, later)
    except Unrestorable as error:
        detail = f"{error}, so what the other truth would reveal is not known. To use it all the same, say reveal."
        raise Refused("invalid", detail) from error
    if count:
        raise Refused(
            "invalid",
            f"{count:,} images that are private now would be public: their scores would be shown before the phase "
            "ends. Correct usage.csv, or say reveal if that is meant.",
        )


def newly_public(active: Truth, later: Truth | Path) -> int:
    """Return how many images are private in the active truth and public in another, given as prepared file or version.

    A prepared file that cannot be read is made again. Raises Unrestorable where that is not possible.
    """
    path = later if isinstance(later, Path) else Path(later.prepared.path)
    words = ("reveals", active.prepared.path, str(path), "--json")
    ended = run_podium(*words, expected=(0, TRUTH_AT_FAULT))
    if ended.returncode == TRUTH_AT_FAULT:
        for truth in [active] if isinstance(later, Path) else [active, later]:
            prepare_again(truth)
        ended = run_podium(*words)
    return int(json.loads(ended.stdout)["newly_public"])


class Unrestorable(Exception):
    """The kept source of a truth cannot be read, or does not make the same truth any more."""


def prepare_again(truth: Truth) -> None:
    """Replace the prepared file of a truth by one made from its kept source; several processes may do so at once.

    Raises Unrestorable; the prepared file is as before then.
    """
    target = Path(truth.prepared.path)
    with TemporaryDirectory(prefix="truth-", dir=settings.FILE_UPLOAD_TEMP_DIR) as workspace:
        folder = Path(workspace) / "source"
        try:
            with ZipFile(truth.source.path) as archive:  # written by `pack`; it is complete, salt included
                archive.extractall(folder)
            prepared = prepare(TruthFolder.of(truth.phase, folder), Path(workspace))
        except (OSError, EOFError, BadZipFile, zlib.error, InvalidBundle) as error:
            raise Unrestorable(f"{truth} cannot be prepared from its source: {type(error).__name__}") from error
        if prepared.sha256 != truth.sha256:
            raise Unrestorable(f"{truth} was prepared from its source and has another sha256")
        replace_file(target, prepared.compiled)


def replace_file(target: Path, source: Path) -> None:
    """Put a copy of a file in another's place, at one instant, readable for its owner only."""
    partial = target.with_name(f"{token_hex(16)}{target.suffix}")
    partial.touch(mode=0o600)
    shutil.copyfile(source, partial)
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(target)
