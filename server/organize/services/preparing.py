"""Prepares ground truths with the `podium` program in a child process, because the server never loads numpy."""

import json
import shutil
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from evaluator import salt
from evaluator.catalog import TRACKS
from evaluator.problems import Problem
from server.organize.podium import run_podium
from server.organize.services import salts
from server.organize.services.bundles import BundlePhase, InvalidBundle
from server.organize.services.bundles.mistakes import Mistakes
from server.organize.services.locating import located

TRUTH_AT_FAULT = 3


class TruthSource(Protocol):
    """A truth folder with the settings of the phase that it belongs to."""

    @property
    def slug(self) -> str: ...
    @property
    def track(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def public_share(self) -> float: ...
    @property
    def split_seed(self) -> int: ...
    @property
    def salt(self) -> str: ...
    @property
    def truth(self) -> Path: ...
    @property
    def usage(self) -> Path | None: ...
    @property
    def sample(self) -> Path | None: ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared truth. Its files are in a workspace and may be moved out of it."""

    sha256: str
    images: int
    compiled: Path
    source: Path
    sample: Path
    private: bool
    candidates: Path | None = None
    warnings: list[Problem] = field(default_factory=list)
    ceiling: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def ceiling_text(self) -> str:
        """The best possible score on each split, and the number of objects that no prediction can match, in words."""
        parts = [
            f"{name} {'undefined' if one['score'] is None else format(one['score'], '.5f')}"
            + (f" ({one['unreachable']:g} objects cannot be matched)" if one["unreachable"] else "")
            for name, one in self.ceiling.items()
        ]
        return f"ceiling: {', '.join(parts)}"


def prepare_all(phases: tuple[BundlePhase, ...], workspace: Path, mistakes: Mistakes) -> dict[str, Prepared]:
    """Prepare the truth of each phase and collect warnings. Raises InvalidBundle with the faults of all phases."""
    prepared: dict[str, Prepared] = {}
    for phase in phases:
        try:
            prepared[phase.slug] = prepare(phase, workspace)
        except InvalidBundle as error:
            mistakes.extend(error.problems)
        else:
            mistakes.extend_warnings(prepared[phase.slug].warnings)
    mistakes.stop_if_any()
    return prepared


def prepare(phase: TruthSource, workspace: Path) -> Prepared:
    """Check and compile a truth. Raises InvalidBundle with its faults.

    For a phase with a salt, it is also a fault if files that participants can read reveal answers. Phases that were
    imported before salts existed are exempt.
    """
    track = TRACKS[phase.track]
    kinds = ("podium", "zip", track.form.suffix)
    compiled, source, sample = (workspace / f"{phase.slug}.{kind}" for kind in kinds)
    candidates = workspace / f"{phase.slug}.candidates.json" if track.gives_candidates else None
    added = added_files(phase, workspace)
    words = [*arguments(phase, added), "--out", str(compiled), "--sample", str(sample)]
    words += ["--candidates", str(candidates)] if candidates else []
    words += ["--ceiling", *(["--hidden"] if phase.salt else [])]
    made = run("prepare", *words, phase=phase)
    if not made["splits"]["public"]:
        file = locate("usage.csv" if phase.usage or (phase.truth / "usage.csv").exists() else None, phase)
        message = "no image is public, so nobody would see a score before the end; make some images public"
        raise InvalidBundle([Problem("truth_bad_value", message, file=file)])
    if phase.sample:
        shutil.copyfile(phase.sample, sample)
    pack(phase, added, source)
    warnings = located(made["warnings"], made["warning_counts"], partial(locate, phase=phase))
    private = "private" in made["splits"]
    ceiling = made.get("ceiling", {})
    return Prepared(made["sha256"], made["images"], compiled, source, sample, private, candidates, warnings, ceiling)


def added_files(phase: TruthSource, workspace: Path) -> list[Path]:
    """Return files of the truth that are not in its folder: a usage file next to the folder, and the stored salt."""
    added = [phase.usage] if phase.usage else []
    if phase.salt and not any((phase.truth / name).is_file() for name in salts.NAMES):
        folder = workspace / f"{phase.slug}.added"
        folder.mkdir()
        added.append(folder / salt.NAME)
        added[-1].write_text(phase.salt, newline="")
    return added


def arguments(phase: TruthSource, added: list[Path]) -> list[str]:
    words = [phase.track, "--truth", str(phase.truth)]
    words += [word for path in added if path.name == salt.NAME for word in ("--salt", str(path))]
    if phase.usage:
        words += ["--usage", str(phase.usage)]
    elif phase.public_share < 1:
        words += ["--split", repr(phase.public_share), "--seed", str(phase.split_seed)]
    return words + settings_of(phase)


def settings_of(phase: TruthSource) -> list[str]:
    """Return the phase's parameters as command-line options."""
    words = []
    for name, value in phase.parameters.items():
        words += ["--set", f"{name}={'/'.join(map(repr, value)) if isinstance(value, list) else value}"]
    return words


def run(*words: str, phase: TruthSource) -> dict[str, Any]:
    """Run `podium … --json` and return its output. Raises InvalidBundle on exit code 3, which means a faulty truth."""
    ended = run_podium(*words, "--json", expected=(0, TRUTH_AT_FAULT))
    answer: dict[str, Any] = json.loads(ended.stdout)
    if ended.returncode == TRUTH_AT_FAULT:
        raise InvalidBundle(located(answer["errors"], answer["counts"], partial(locate, phase=phase)))
    return answer


def locate(file: str | None, phase: TruthSource) -> str:
    """Return the path of a truth file relative to the bundle."""
    beside = phase.usage is not None and file in ("usage.csv", phase.usage.name)
    folder = f"phases/{phase.slug}" if beside else f"phases/{phase.slug}/truth"
    return f"{folder}/{file}" if file else folder


def pack(phase: TruthSource, added: list[Path], target: Path) -> None:
    """Zip the truth folder with the added files. Folders with equal content give equal bytes."""
    files = {path.relative_to(phase.truth).as_posix(): path for path in phase.truth.rglob("*") if path.is_file()}
    files |= {path.name: path for path in added}
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = ZipInfo(name)  # without a date, so that equal files give equal bytes
            entry.compress_type = ZIP_DEFLATED
            with files[name].open("rb") as source, archive.open(entry, "w", force_zip64=True) as copy:
                shutil.copyfileobj(source, copy, 2**20)
