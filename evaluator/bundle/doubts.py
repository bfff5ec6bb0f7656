"""Warns about content in a bundle that is allowed but was probably not intended."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from evaluator.bundle.declared import BundlePhase
from evaluator.bundle.mistakes import SHEET, Mistakes
from evaluator.bundle.values import nearest

TOP = (SHEET, "description.md", "rules.md", "data.md")
PHASES = "phases"
# An import of a challenge ignores unknown files, and warns about them. At the top level and in phase folders, files
# whose names begin with one of these strings cause no warning, because such files are often kept with a challenge.
DOCUMENTS = ("readme", "license", "changelog", "synthesis.json")


def warn_of_unread(folder: Path, phases: Iterable[BundlePhase], mistakes: Mistakes) -> None:
    """Warn about files and folders in a bundle that an import ignores.

    The top level, the phase folders and the ground truth folders are searched. A folder at the top level causes a
    warning only if its name is similar to an expected name.
    """
    for name in _names(folder):
        if (folder / name).is_file() and name not in TOP and not name.lower().startswith(DOCUMENTS):
            _warn(name, name, TOP, mistakes)
        elif (folder / name).is_dir() and name != PHASES and (name in TOP or nearest(name.lower(), (PHASES,))):
            _warn(name, name.lower(), (PHASES,), mistakes)
    known = [phase.slug for phase in phases if phase.slug]
    for name in _names(folder / PHASES):
        if name not in known:
            _warn(f"phases/{name}", name, known, mistakes)
    for phase in phases:
        if phase.slug and phase.track:
            _warn_of_truth(phase, mistakes)
            _warn_of_phase(phase, mistakes)


def _warn_of_truth(phase: BundlePhase, mistakes: Mistakes) -> None:
    files = [file.name.removesuffix("/") for file in phase.declared_track.truth_files]
    for name in _names(phase.truth):
        if name.removesuffix(".gz") not in files:
            _warn(f"phases/{phase.slug}/truth/{name}", name, files, mistakes)


def _warn_of_phase(phase: BundlePhase, mistakes: Mistakes) -> None:
    """Warn about unused files in the folder of a phase, outside its ground truth folder.

    A file is used if it is the usage file (which assigns images to splits), the sample submission or a baseline.
    """
    used = {phase.truth, phase.usage, phase.sample, *(baseline.file for baseline in phase.baselines)}
    known = ["truth", "usage.csv", f"sample_submission.{phase.declared_track.form.suffix}"]
    for name in _names(phase.folder):
        path = phase.folder / name
        if path in used or name.lower().startswith(DOCUMENTS):
            continue
        inner = [file for file in path.rglob("*") if file.is_file()]
        if not any(file in used for file in inner):
            _warn(f"phases/{phase.slug}/{name}", name.lower(), known, mistakes)
            continue
        for file in (file for file in sorted(inner) if file not in used):
            _warn(f"phases/{phase.slug}/{file.relative_to(phase.folder).as_posix()}", file.name, (), mistakes)


def warn_of_quota(phase: BundlePhase, mistakes: Mistakes) -> None:
    """Warn about contradictions between the limits in the quota of a phase, such as a daily limit above the total."""
    for message in _contradictions(phase):
        mistakes.warn("contradicting_quota", message, line=phase.line, key=f"{phase.key}.quota")


def _contradictions(phase: BundlePhase) -> Iterator[str]:
    if phase.quota_total is not None and phase.quota_total < phase.quota_per_day:
        yield f"total ({phase.quota_total}) is less than per_day ({phase.quota_per_day}), so per_day is never reached"
    if phase.quota_total is not None and phase.finals > phase.quota_total:
        yield f"finals ({phase.finals}) is greater than total ({phase.quota_total})"
    if phase.attempts_per_day < phase.quota_per_day:
        attempts = f"attempts_per_day ({phase.attempts_per_day})"
        yield f"{attempts} is less than per_day ({phase.quota_per_day}), so per_day is never reached"


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _warn(file: str, name: str, known: Iterable[str], mistakes: Mistakes) -> None:
    hint = nearest(name, tuple(known))
    mistakes.warn("unread_file", f"is ignored{f'; {hint}' if hint else ''}", file=file)
