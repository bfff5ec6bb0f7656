"""Prepares ground truths with the `podium` program in a child process, because the server never loads numpy."""

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from evaluator.bundle import truths
from evaluator.bundle.gates import gate_warnings
from evaluator.bundle.truths import TruthSource
from evaluator.problems import Problem
from evaluator.texts import counted
from server.organize import podium
from server.organize.services import gates, kits, statistics


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared truth. Its files are in a workspace and may be moved out of it."""

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
        """A text with the checks of the gate that are not green."""
        red = [one["name"] for one in (self.gate or {}).get("checks", []) if not one["passed"]]
        return f"gate: red ({', '.join(red)}); it accepts no submissions until all checks are green" if red else ""

    @property
    def ceiling_text(self) -> str:
        """A sentence with the best possible score on each split, and the number of objects that no prediction can
        match.
        """
        parts = [
            f"{name} {'undefined' if one['score'] is None else format(one['score'], '.5f')}"
            + (f" ({counted(one['unreachable'], 'object')} cannot be matched)" if one["unreachable"] else "")
            for name, one in self.ceiling.items()
        ]
        return f"ceiling: {', '.join(parts)}"


def prepare(phase: TruthSource, workspace: Path) -> Prepared:
    """Check and compile a truth, and make its kit. Raises InvalidBundle with its faults."""
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


def prepare_and_test(phase: TruthSource, workspace: Path) -> Prepared:
    """Prepare a truth and run its gate. The warnings include the checks that are not green.

    Raises InvalidBundle with the faults of the truth.
    """
    prepared = prepare(phase, workspace)
    gate = gates.run(track=phase.track, parameters=phase.parameters, compiled=prepared.compiled, sample=prepared.sample)
    return replace(prepared, gate=gate, warnings=[*prepared.warnings, *gate_warnings(gate or {}, phase)])


def pack(phase: TruthSource, added: list[Path], target: Path) -> None:
    """Zip the truth folder with the added files. Folders with equal content give equal bytes."""
    files = {path.relative_to(phase.truth).as_posix(): path for path in phase.truth.rglob("*") if path.is_file()}
    files |= {path.name: path for path in added}
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = ZipInfo(name)  # the entry has no date, so that equal files give equal bytes
            entry.compress_type = ZIP_DEFLATED
            with files[name].open("rb") as source, archive.open(entry, "w", force_zip64=True) as copy:
                shutil.copyfileobj(source, copy, 2**20)
