"""Prepares ground truths with the `podium` program in a child process, so that server processes do not load numpy."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from evaluator.bundle import truths
from evaluator.bundle.gates import Tested, gate_warnings
from evaluator.bundle.truths import TruthSource
from evaluator.problems import Problem
from evaluator.texts import counted
from server.challenges.gate import tested_settings
from server.challenges.models import Phase
from server.organize import podium
from server.organize.services import gates, kits, statistics


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared ground truth. Its files are in a temporary folder, and callers may move them.

    `gate` is the result of the gate, a series of checks. It is None if the checks were not run because an earlier
    result is stored and still valid.
    """

    sha256: str
    images: int
    compiled: Path
    source: Path
    sample: Path
    kit: Path
    private: bool
    candidates: Path | None = None
    warnings: list[Problem] = field(default_factory=list)
    ceiling: dict[str, dict[str, Any]] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    gate: dict[str, Any] | None = None

    @property
    def gate_text(self) -> str:
        """A phrase that lists the gate checks that are not green, or explains why the gate has no result.

        It is empty if all checks are green or the gate was not run.
        """
        found = self.gate or {}
        if "unfinished" in found:
            return f"gate: {unfinished_text(found)}"
        red = [one["name"] for one in found.get("checks", []) if not one["passed"]]
        return f"gate: red ({', '.join(red)}); submissions are refused until all checks are green" if red else ""

    @property
    def ceiling_text(self) -> str:
        """A phrase with the best possible submission's score on each split, and how many objects it does not match."""
        parts = [
            f"{name} {'undefined' if one['score'] is None else format(one['score'], '.5f')}"
            + (f" ({counted(one['unreachable'], 'object')} cannot be matched)" if one["unreachable"] else "")
            for name, one in self.ceiling.items()
        ]
        return f"ceiling: {', '.join(parts)}"


def prepare(phase: TruthSource, workspace: Path) -> Prepared:
    """Check and compile a ground truth, and create its check kit (a file for checking submissions offline).

    Raises InvalidBundle with the faults of the ground truth.
    """
    source, kit = workspace / f"{phase.slug}.zip", workspace / f"{phase.slug}.kit.json"
    described = workspace / f"{phase.slug}.statistics.json"
    options = ["--kit", str(kit), "--statistics", str(described), *kits.limit_options()]
    made = truths.prepare(phase, workspace, podium.answer, *options)
    pack(phase, made.added, source)
    return Prepared(
        sha256=made.sha256,
        images=made.images,
        compiled=made.compiled,
        source=source,
        sample=made.sample,
        kit=kit,
        private=made.private,
        candidates=made.candidates,
        warnings=made.warnings,
        ceiling=made.ceiling,
        statistics=statistics.read(described),
    )


def prepare_and_test(
    source: TruthSource,
    workspace: Path,
    *,
    phase: Phase | None,
    sample_sha256: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Prepared:
    """Prepare a ground truth, and run its gate (a series of checks) unless the stored gate result is still valid.

    The warnings include the gate checks that are not green. `sample_sha256` is the sha256 of the phase's current
    sample submission, or None if the newly prepared sample replaces it. `progress` is called with the result of each
    check as text. Raises InvalidBundle with the faults of the ground truth.
    """
    prepared = prepare(source, workspace)
    digest = sha256_of(prepared.sample) if sample_sha256 is None else sample_sha256
    settings = tested_settings(source, digest)
    if gates.is_settled(phase, prepared.sha256, settings):
        return prepared
    tested = Tested(source.track, source.parameters, prepared.compiled, prepared.sample)
    gate = gates.run(tested, settings, progress=progress)
    return replace(prepared, gate=gate, warnings=[*prepared.warnings, *warnings_of(gate, source)])


def warnings_of(gate: dict[str, Any], source: TruthSource) -> list[Problem]:
    """Return a warning for each gate check that is not green, or one warning if the gate has no result.

    A gate is a series of checks of a ground truth.
    """
    if "unfinished" in gate:
        return [Problem("gate_unfinished", unfinished_text(gate), file=truths.locate(None, source))]
    return gate_warnings(gate, source)


def unfinished_text(gate: dict[str, Any]) -> str:
    return f"not run, because {gate['unfinished']}; submissions are refused until you run it with manage.py gate"


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def pack(phase: TruthSource, added: list[Path], target: Path) -> None:
    """Zip the ground truth's folder and the files in `added`. Equal content produces identical archives."""
    files = {path.relative_to(phase.truth).as_posix(): path for path in phase.truth.rglob("*") if path.is_file()}
    files |= {path.name: path for path in added}
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = ZipInfo(name)  # The archive contains no dates, so that equal files produce identical archives.
            entry.compress_type = ZIP_DEFLATED
            with files[name].open("rb") as source, archive.open(entry, "w", force_zip64=True) as copy:
                shutil.copyfileobj(source, copy, 2**20)
