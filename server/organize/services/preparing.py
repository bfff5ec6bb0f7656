"""A phase's truth, checked and compiled by the `podium` program as a child: the server never loads numpy."""

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


class Source(Protocol):
    """A truth folder, and the settings of the phase that it is for."""

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
    """What a truth folder became; the files lie in a workspace and may be moved out of it."""

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
    def ceiling_in_words(self) -> str:
        """The score of the truth as its own prediction, by split, and how many objects cannot be reached."""
        parts = [
            f"{name} {'undefined' if one['score'] is None else format(one['score'], '.5f')}"
            + (f" ({one['unreachable']:g} objects cannot be reached)" if one["unreachable"] else "")
            for name, one in self.ceiling.items()
        ]
        return f"ceiling: {', '.join(parts)}"


def prepare_all(phases: tuple[BundlePhase, ...], workspace: Path, mistakes: Mistakes) -> dict[str, Prepared]:
    """Prepare the truth of each phase and note its warnings. Raises InvalidBundle with the faults of all of them."""
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


def prepare(phase: Source, workspace: Path) -> Prepared:
    """Check and compile a truth.

    A phase with a salt must not reveal answers by what participants are given to read either; one from before there
    were salts stays as it was accepted then.
    """
    track = TRACKS[phase.track]
    kinds = ("podium", "zip", track.form.suffix)
    compiled, source, sample = (workspace / f"{phase.slug}.{kind}" for kind in kinds)
    candidates = workspace / f"{phase.slug}.candidates.json" if track.gives_candidates else None
    added = added_files(phase, workspace)
    words = [*arguments(phase, added), "--out", str(compiled), "--sample", str(sample)]
    words += ["--candidates", str(candidates)] if candidates else []
    words += ["--ceiling", *(["--hidden"] if phase.salt else [])]
    made = answer_of("prepare", *words, phase=phase)
    if not made["splits"]["public"]:
        told = place("usage.csv" if phase.usage or (phase.truth / "usage.csv").exists() else None, phase)
        message = "no image is public, so that nobody would see a score before the end; make some public"
        raise InvalidBundle([Problem("truth_bad_value", message, file=told)])
    if phase.sample:
        shutil.copyfile(phase.sample, sample)
    pack(phase, added, source)
    warnings = located(made["warnings"], made["warning_counts"], partial(place, phase=phase))
    private = "private" in made["splits"]
    ceiling = made.get("ceiling", {})
    return Prepared(made["sha256"], made["images"], compiled, source, sample, private, candidates, warnings, ceiling)


def added_files(phase: Source, workspace: Path) -> list[Path]:
    """Return the files that belong to the truth and are not in its folder: the usage file beside it, a kept salt."""
    added = [phase.usage] if phase.usage else []
    if phase.salt and not any((phase.truth / name).is_file() for name in salts.NAMES):
        folder = workspace / f"{phase.slug}.added"
        folder.mkdir()
        added.append(folder / salt.NAME)
        added[-1].write_text(phase.salt, newline="")
    return added


def arguments(phase: Source, added: list[Path]) -> list[str]:
    words = [phase.track, "--truth", str(phase.truth)]
    words += [word for path in added if path.name == salt.NAME for word in ("--salt", str(path))]
    if phase.usage:
        words += ["--usage", str(phase.usage)]
    elif phase.public_share < 1:
        words += ["--split", repr(phase.public_share), "--seed", str(phase.split_seed)]
    return words + settings_of(phase)


def settings_of(phase: Source) -> list[str]:
    """Return the phase's parameters as the program takes them."""
    words = []
    for name, value in phase.parameters.items():
        words += ["--set", f"{name}={'/'.join(map(repr, value)) if isinstance(value, list) else value}"]
    return words


def answer_of(*words: str, phase: Source) -> dict[str, Any]:
    """Return what `podium … --json` prints; exit 3 says that the truth is at fault, and where."""
    ended = run_podium(*words, "--json", expected=(0, TRUTH_AT_FAULT))
    answer: dict[str, Any] = json.loads(ended.stdout)
    if ended.returncode == TRUTH_AT_FAULT:
        raise InvalidBundle(located(answer["errors"], answer["counts"], partial(place, phase=phase)))
    return answer


def place(file: str | None, phase: Source) -> str:
    beside = phase.usage is not None and file in ("usage.csv", phase.usage.name)
    folder = f"phases/{phase.slug}" if beside else f"phases/{phase.slug}/truth"
    return f"{folder}/{file}" if file else folder


def pack(phase: Source, added: list[Path], target: Path) -> None:
    """Zip the truth folder as it was given, with what was added to it; equal folders make equal bytes."""
    files = {path.relative_to(phase.truth).as_posix(): path for path in phase.truth.rglob("*") if path.is_file()}
    files |= {path.name: path for path in added}
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = ZipInfo(name)  # dated 1980, like every entry without a date
            entry.compress_type = ZIP_DEFLATED
            with files[name].open("rb") as source, archive.open(entry, "w", force_zip64=True) as copy:
                shutil.copyfileobj(source, copy, 2**20)
