"""A declared phase becomes rows. Where teams have submitted, nothing changes that would change a score."""

from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

from django.db import transaction

from evaluator.signature import compose
from server.challenges.models import Phase
from server.organize.services.bundles import BundlePhase
from server.organize.services.bundles.mistakes import Mistakes
from server.organize.services.new_files import NewFiles
from server.organize.services.preparing import Prepared
from server.organize.services.truths import keep, put_into_use

FIELDS = (
    "title",
    "track",
    "parameters",
    "public_share",
    "split_seed",
    "opens_at",
    "closes_at",
    "quota_per_day",
    "quota_total",
    "attempts_per_day",
    "finals",
    "feedback",
    "feedback_decimals",
    "feedback_classes",
)


def differing(row: Any, fields: dict[str, Any]) -> list[str]:
    """Give a row its new values; return the names of those that were others."""
    names = [name for name, value in fields.items() if getattr(row, name) != value]
    for name in names:
        setattr(row, name, fields[name])
    return names


def write_phase(
    phase: Phase, declared: BundlePhase, *, position: int, prepared: Prepared, files: NewFiles, mistakes: Mistakes
) -> list[str]:
    """Create or change one phase with its truth and sample; return what changed, in words."""
    is_new = phase.pk is None
    if is_new:
        phase.salt = declared.salt
    elif phase.salt != declared.salt:
        mistakes.add("import_raced", f"{phase.slug}: was imported at the same time; import again", line=declared.line)
        return []
    settled = changed_terms(phase, declared, prepared)
    if not is_new and settled and has_entries(phase):
        mistakes.add(
            "phase_in_use",
            f"{phase.slug}: teams have submitted, so its {', '.join(settled)} must stay as imported before; "
            "put the change into a new phase, or a mended truth into effect with manage.py rescore --truth",
            line=declared.line,
        )
        return []
    fields = {name: getattr(declared, name) for name in FIELDS}
    fields["ladder_standard_errors"] = declared.ladder_standard_errors or phase.ladder_standard_errors
    names = differing(phase, {**fields, "position": position})
    signature = compose(phase.declared_track, phase.declared_track.resolve(phase.parameters), prepared.sha256)
    wants_truth = bool(settled) or (phase.signature != signature and not has_entries(phase))
    if wants_truth:
        phase.signature = signature
    names += replace(phase, "sample_submission", prepared.sample, files)
    names += replace(phase, "candidates", prepared.candidates, files) if prepared.candidates else []
    if is_new or names or wants_truth:
        phase.save()
    changes = ["added"] if is_new else [f"{', '.join(names)} changed"] if names else []
    if wants_truth:
        changes.append(activate(phase, prepared, files))
    return [f"phase {phase.slug}: {change}" for change in changes]


def changed_terms(phase: Phase, declared: BundlePhase, prepared: Prepared) -> list[str]:
    """Name what decides scores and is not as it was; for a new phase that is everything."""
    truth = phase.truth if phase.pk else None
    if truth is None:
        return ["track", "parameters", "split", "truth"]
    terms = {
        "track": phase.track != declared.track,
        "parameters": counted(phase) != counted(declared),
        "split": phase.public_share != declared.public_share
        or (phase.split_seed != declared.split_seed and not phase.salt),
        "truth": truth.sha256 != prepared.sha256,
    }
    return [name for name, differs in terms.items() if differs]


def counted(phase: Phase | BundlePhase) -> dict[str, Any]:
    """Return the parameters that a score depends on."""
    values = phase.declared_track.resolve(phase.parameters)
    return {parameter.name: values[parameter.name] for parameter in phase.declared_track.parameters if parameter.short}


def has_entries(phase: Phase) -> bool:
    """Tell whether a team has submitted; baselines are the organizers' own and can be scored anew."""
    return phase.pk is not None and phase.submissions.filter(team__is_baseline=False).exists()


def activate(phase: Phase, prepared: Prepared, files: NewFiles) -> str:
    """Make the prepared truth the one that counts, and remove what baselines scored against the last one."""
    clear(phase)
    truth = keep(phase, prepared, files)
    put_into_use(truth)
    return f"truth version {truth.version}, {truth.images:,} images, sha256 {truth.sha256[:12]}"


def clear(phase: Phase) -> None:
    """Remove the submissions of a phase with all that hangs on them.

    They are locked first, which waits for a worker that is recording one: its scores are then collected with the row.
    Scores that came between the collecting and the deleting would keep the row, and abort the import.
    """
    list(phase.submissions.select_for_update().order_by("pk").values_list("pk"))
    phase.submissions.all().delete()


def replace(phase: Phase, field: str, path: Path, files: NewFiles) -> list[str]:
    """Keep a file that participants get in place of the last one; return the field's name if the bytes differ."""
    old = getattr(phase, field)
    if old and same_bytes(Path(old.path), path):
        return []
    if old:
        transaction.on_commit(partial(old.storage.delete, str(old.name)))
    files.store(old, path, name=f"{phase.challenge.slug}-{phase.slug}{path.suffix}")
    return [field]


def same_bytes(one: Path, other: Path) -> bool:
    if not one.is_file():
        return False
    with one.open("rb") as left, other.open("rb") as right:
        return file_digest(left, "sha256").digest() == file_digest(right, "sha256").digest()
