"""Writes the database rows of a phase that is imported from a challenge bundle.

Once teams have submitted, another import of the bundle cannot change anything that affects scores.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models.fields.files import FieldFile

from evaluator.bundle import Bundle, BundlePhase
from evaluator.bundle.mistakes import Mistakes
from evaluator.bundle.truths import usage_file
from evaluator.texts import counted
from server.challenges.locks import lock_teams
from server.challenges.models import Phase
from server.challenges.shaping import signature_of
from server.organize.services import gates, statistics
from server.organize.services.new_files import NewFiles
from server.organize.services.preparing import Prepared, sha256_of
from server.organize.services.truths import activate, keep
from server.submissions.signals import announce

FIELDS = (
    "title",
    "track",
    "parameters",
    "public_share",
    "split_seed",
    "opens_at",
    "closes_at",
    "freeze_at",
    "reveal",
    "quota_per_day",
    "quota_total",
    "attempts_per_day",
    "finals",
    "feedback",
    "feedback_decimals",
    "feedback_classes",
)


def assign(row: Any, fields: dict[str, Any]) -> list[str]:
    """Set the fields of a model instance. Return the names of the fields that changed."""
    names = [name for name, value in fields.items() if getattr(row, name) != value]
    for name in names:
        setattr(row, name, fields[name])
    return names


def write_phase(
    phase: Phase, declared: BundlePhase, *, position: int, prepared: Prepared, files: NewFiles, mistakes: Mistakes
) -> list[str]:
    """Create or change one phase with its ground truth and sample submission. Return one message for each change."""
    is_new = phase.pk is None
    if is_new:
        phase.salt = declared.salt
    elif phase.salt != declared.salt:
        mistakes.add("import_raced", f"{phase.slug} was changed by another import; import again", line=declared.line)
        return []
    settled = changed_terms(phase, declared, prepared)
    if not is_new and settled and has_entries(phase):
        mistakes.add(
            "phase_in_use",
            f"{phase.slug}: teams have submitted, so its {', '.join(settled)} cannot change. "
            "Make the change in a new phase, or apply a corrected truth with manage.py rescore --truth",
            line=declared.line,
        )
        return []
    fields = {name: getattr(declared, name) for name in FIELDS}
    fields["ladder_standard_errors"] = declared.ladder_standard_errors or phase.ladder_standard_errors
    names = assign(phase, {**fields, "position": position})
    signature = signature_of(phase, prepared.sha256)
    wants_truth = bool(settled) or (phase.signature != signature and not has_entries(phase))
    if wants_truth:
        phase.signature = signature
    names += replace_downloads(phase, prepared, files)
    if is_new or names or wants_truth:
        phase.save()
    changes = ["added"] if is_new else [f"{', '.join(names)} changed"] if names else []
    if wants_truth:
        changes.append(replace_truth(phase, prepared, files))
    elif phase.truth and phase.truth.sha256 == prepared.sha256:
        statistics.complete(phase.truth, prepared.statistics)
        gates.store(phase.truth, prepared.gate)
    return [f"phase {phase.slug}: {change}" for change in changes]


def with_stored_splits(bundle: Bundle, known: Mapping[str, Phase]) -> Bundle:
    """Return the bundle with the stored share and seed of each known phase whose images a usage.csv divides.

    These settings then have no effect, and the bundle cannot contain them. They are kept, because earlier versions of
    the ground truth, which may have no usage.csv, depend on them. `known` contains the stored phases, keyed by slug.
    """
    phases = (
        replace(one, public_share=known[one.slug].public_share, split_seed=known[one.slug].split_seed)
        if one.slug in known and usage_file(one.truth, one.usage)
        else one
        for one in bundle.phases
    )
    return replace(bundle, phases=tuple(phases))


def changed_terms(phase: Phase, declared: BundlePhase, prepared: Prepared) -> list[str]:
    """Return the names of the settings that affect scores and would be changed by an import.

    For a new phase, these are all settings that affect scores.
    """
    truth = phase.truth if phase.pk else None
    if truth is None:
        return ["track", "parameters", "split", "truth"]
    terms = {
        "track": phase.track != declared.track,
        "parameters": scoring_parameters(phase) != scoring_parameters(declared),
        "split": phase.public_share != declared.public_share
        or (phase.split_seed != declared.split_seed and not phase.salt),
        "truth": truth.sha256 != prepared.sha256,
    }
    return [name for name, differs in terms.items() if differs]


def scoring_parameters(phase: Phase | BundlePhase) -> dict[str, Any]:
    """Return the parameters of a phase's track that affect scores, with their values."""
    values = phase.declared_track.resolve(phase.parameters)
    return {parameter.name: values[parameter.name] for parameter in phase.declared_track.parameters if parameter.short}


def has_entries(phase: Phase) -> bool:
    """Return whether any team has submitted to a phase.

    Baselines do not count, because organizers can submit them again.
    """
    return phase.pk is not None and phase.submissions.filter(team__is_baseline=False).exists()


def replace_truth(phase: Phase, prepared: Prepared, files: NewFiles) -> str:
    """Make a prepared ground truth the active version of a phase.

    All submissions to the phase are removed. Only baselines can have submitted to it, because the ground truth of a
    phase with submissions from teams cannot be replaced.
    """
    clear(phase)
    truth = keep(phase, prepared, files)
    activate(truth)
    return f"truth version {truth.version}, {counted(truth.images, 'image')}, sha256 {truth.sha256[:12]}"


def clear(phase: Phase) -> None:
    """Remove the submissions to a phase, with all rows that refer to them.

    The submissions are locked first. If a worker is recording a score, the deletion therefore waits, and then also
    deletes this score. Without the lock, the score could be written after Django has collected the related rows, and
    the import would fail.
    """
    teams = {*phase.submissions.order_by().values_list("team", flat=True)}
    lock_teams(teams)
    list(phase.submissions.select_for_update().order_by("pk").values_list("pk"))
    phase.submissions.all().delete()
    announce(phase, teams)


def remove(phase: Phase) -> str:
    """Remove a phase with its baselines and files. Return a message about the removal."""
    fields = [field for truth in phase.truths.all() for field in (truth.prepared, truth.source, truth.kit)]
    for field in filter(None, [*fields, phase.sample_submission, phase.candidates]):
        transaction.on_commit(partial(field.storage.delete, str(field.name)))
    clear(phase)
    phase.delete()
    return f"phase {phase.slug}: removed"


def replace_downloads(phase: Phase, prepared: Prepared, files: NewFiles) -> list[str]:
    """Replace the sample submission and, for tracks that rank candidates, the candidate list offered for download.

    Return the names of the fields whose content has changed.

    The sha256 of the sample submission is stored as well, because the result of the gate (checks of the ground truth)
    is valid for one sample only.
    """
    names = replace_file(phase, "sample_submission", prepared.sample, files)
    digest = assign(phase, {"sample_sha256": sha256_of(prepared.sample)})
    # A sample submission that was stored without its sha256 counts as changed, even if its content is the same.
    names = names or digest
    return names + (replace_file(phase, "candidates", prepared.candidates, files) if prepared.candidates else [])


def replace_file(phase: Phase, field: str, path: Path, files: NewFiles) -> list[str]:
    """Replace a file that participants can download. Return the name of its field if the content has changed."""
    old = getattr(phase, field)
    if old and same_bytes(old, path):
        return []
    if old:
        transaction.on_commit(partial(old.storage.delete, str(old.name)))
    files.store(old, path, name=f"{phase.challenge.slug}-{phase.slug}{path.suffix}")
    return [field]


def same_bytes(stored: FieldFile, path: Path) -> bool:
    try:
        with stored.storage.open(str(stored.name)) as file:
            return file_digest(file, "sha256").hexdigest() == sha256_of(path)
    except FileNotFoundError:
        return False
