"""A further version of a phase's truth: checked and compiled like the first, not used before a rescoring is applied."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from evaluator.problems import Problem
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase, Truth
from server.clock import database_now
from server.errors import Refused
from server.organize.services.bundles import opened
from server.organize.services.bundles.mistakes import unheard
from server.organize.services.new_files import NewFiles
from server.organize.services.preparing import Prepared, prepare
from server.submissions.models import Score


@dataclass(frozen=True, slots=True)
class TruthFolder:
    """A truth without a bundle around it, for a phase as it stands."""

    slug: str
    track: str
    parameters: dict[str, Any]
    public_share: float
    split_seed: int
    truth: Path
    usage: None = None
    sample: None = None


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
        source = TruthFolder(
            phase.slug, phase.track, phase.parameters, phase.public_share, phase.split_seed, truth=folder
        )
        active = phase.truth
        earlier = Path(active.prepared.path) if active and not phase.has_closed(database_now()) else None
        prepared = prepare(source, Path(workspace), earlier=earlier)
        for warning in prepared.warnings:
            warn(warning)
        with transaction.atomic(), NewFiles() as files:
            return write(phase, prepared, files, by=by, reveal=reveal)


def write(phase: Phase, prepared: Prepared, files: NewFiles, *, by: User | None, reveal: bool) -> Truth:
    """Write the row, in the caller's transaction."""
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    known = locked.truths.filter(sha256=prepared.sha256).first()
    if known is not None:
        return known
    refuse_lost_secrets(locked, prepared)
    if prepared.newly_public and not reveal:
        raise Refused(
            "invalid",
            f"{prepared.newly_public:,} images that are private now would be public: their scores would be shown "
            "before the phase ends. Correct usage.csv, or say reveal if that is meant.",
        )
    truth = keep(locked, prepared, files, active=False)
    detail = {"version": truth.version, "sha256": truth.sha256}
    audit.record(actor=by, action="truth.added", subject=f"phase {phase}", detail=detail)
    return truth


def refuse_lost_secrets(phase: Phase, prepared: Prepared) -> None:
    """A truth whose usage file was forgotten would publish what is private."""
    private = Score.objects.filter(evaluation__submission__phase=phase, split="private")
    if not prepared.private and private.exists():
        raise Refused("invalid", "This truth has no private images, and the present one has. Add its usage.csv.")


def keep(phase: Phase, prepared: Prepared, files: NewFiles, *, active: bool) -> Truth:
    """Store the files of a truth and write it as the phase's next version."""
    latest = phase.truths.aggregate(latest=Max("version"))["latest"] or 0
    truth = Truth(phase=phase, version=latest + 1, sha256=prepared.sha256, images=prepared.images, active=active)
    files.store(truth.prepared, prepared.compiled, name="truth.podium")
    files.store(truth.source, prepared.source, name="truth.zip")
    truth.save(force_insert=True)
    return truth
