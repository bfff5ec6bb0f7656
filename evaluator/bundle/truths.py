"""Prepares the ground truths of a bundle with the `podium prepare` command."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from evaluator import salt
from evaluator.bundle.locating import located
from evaluator.bundle.mistakes import InvalidBundle
from evaluator.bundle.salts import NAMES
from evaluator.catalog import TRACKS, Track, TruthFile
from evaluator.problems import Problem

# Possible names of the usage file, which assigns images to splits. If a ground truth folder contains such a file, the
# split settings in challenge.yaml are ignored.
USAGES = ("usage.csv", "usage.csv.gz")

# The type of a function that runs a `podium` command with `--json` and returns the JSON output. The output contains
# `errors` if the ground truth or submission is invalid.
Podium = Callable[..., dict[str, Any]]


class TruthSource(Protocol):
    """The interface of a phase whose ground truth is prepared: it provides the ground truth folder and the settings."""

    @property
    def slug(self) -> str:
        """Return the slug of the phase, which is its short name in URLs."""

    @property
    def track(self) -> str:
        """Return the name of the phase's track."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the values of the track's parameters in this phase."""

    @property
    def public_share(self) -> float:
        """Return the fraction of the images that are in the public split."""

    @property
    def split_seed(self) -> int:
        """Return the seed that determines which images are public if there is no secret salt."""

    @property
    def salt(self) -> str:
        """Return the content of `salt.txt`, a secret that determines the split; empty if the phase has no salt."""

    @property
    def truth(self) -> Path:
        """Return the path of the ground truth folder of the phase."""

    @property
    def usage(self) -> Path | None:
        """Return the path of the usage file next to the ground truth folder, or None if there is none.

        A usage file assigns images to splits.
        """

    @property
    def sample(self) -> Path | None:
        """Return the path of the sample submission from the organizers, or None if there is none."""


@dataclass(frozen=True, slots=True)
class PreparedTruth:
    """The files and properties that result from preparing a ground truth.

    Attributes
    ----------
    sha256 : str
        The SHA-256 hash that identifies the ground truth.
    images : int
        Number of images.
    compiled, sample : Path
        The prepared ground truth, and the sample submission. If the organizers provide no sample submission,
        ``sample`` is a template submission.
    candidates : Path or None
        A JSON file with a list of all possible answers; None if participants in the track do not get such a list.
    added : list of Path
        Ground truth files that are not in the ground truth folder: the usage file, which assigns images to splits, and
        the salt.
    private : bool
        Whether the ground truth has private images.
    warnings : list of Problem
    ceiling : dict
        The best possible score on each split.
    """

    sha256: str
    images: int
    compiled: Path
    sample: Path
    candidates: Path | None
    added: list[Path]
    private: bool
    warnings: list[Problem]
    ceiling: dict[str, dict[str, Any]]


def prepare(phase: TruthSource, workspace: Path, podium: Podium, *options: str) -> PreparedTruth:
    """Check and compile a ground truth. ``options`` are additional options for `podium prepare`.

    Raises InvalidBundle if the ground truth has faults. One possible fault is that public data, such as ids, reveals
    answers. Phases without a salt (a secret that determines the split), which were imported before salts existed, are
    not checked for this fault.
    """
    track = TRACKS[phase.track]
    compiled, sample = (workspace / f"{phase.slug}.{kind}" for kind in ("podium", track.form.suffix))
    candidates = workspace / f"{phase.slug}.candidates.json" if track.gives_candidates else None
    added = _added_files(phase, workspace)
    words = [*_arguments(phase, added), "--out", str(compiled), "--sample", str(sample), *options]
    words += ["--candidates", str(candidates)] if candidates else []
    words += ["--ceiling", *(["--hidden"] if phase.salt else [])]
    made = podium("prepare", *words)
    if "errors" in made:
        raise InvalidBundle(located(made["errors"], made["counts"], partial(locate, phase=phase)))
    if "all" in made.get("ceiling", {}) and made["ceiling"]["all"]["score"] is None:
        raise InvalidBundle([_nothing_to_score(phase, made)])
    if not made["splits"]["public"]:
        usage = usage_file(phase.truth, phase.usage)
        file = locate(usage.name if usage else None, phase)
        message = "no image is public, so nobody would see a score before the phase ends; make some images public"
        raise InvalidBundle([Problem("truth_bad_value", message, file=file)])
    if phase.sample:
        shutil.copyfile(phase.sample, sample)
    warnings = located(made["warnings"], made["warning_counts"], partial(locate, phase=phase))
    private, ceiling = "private" in made["splits"], made.get("ceiling", {})
    return PreparedTruth(
        made["sha256"], made["images"], compiled, sample, candidates, added, private, warnings, ceiling
    )


def _nothing_to_score(phase: TruthSource, made: Mapping[str, Any]) -> Problem:
    """Return the fault for a ground truth whose best possible score is undefined: no submission can be scored."""
    track = TRACKS[phase.track]
    empty = [one["file"] for one in made["warnings"] if one["code"] == "truth_no_rows"]
    file = empty[0] if empty else next(file.name for file in track.truth_files if file.required)
    message = f"no submission can be scored: there is nothing to find{other_track(track, phase.truth)}"
    return Problem("truth_nothing_to_score", message, file=locate(file, phase))


def missing_files(track: Track, truth: Path) -> list[TruthFile]:
    """Return the ground truth files that a track requires and that are missing from a folder."""
    return track.missing(lambda name: exists(truth / name))


def other_track(track: Track, truth: Path) -> str:
    """Return a hint if a ground truth folder contains the files of another track, otherwise an empty string.

    The hint continues a sentence in an error message.
    """
    others = [other.name for other in TRACKS.values() if other is not track and not missing_files(other, truth)]
    return (
        (f". The folder contains the files of {' and of '.join(others)}; correct `track` or the files")
        if others
        else ""
    )


def exists(path: Path) -> bool:
    """Return whether a file or folder exists, either with the given name or as a gzipped file."""
    return path.exists() or path.with_name(f"{path.name}.gz").is_file()


def _added_files(phase: TruthSource, workspace: Path) -> list[Path]:
    """Return the paths of ground truth files outside the ground truth folder: the usage file and `salt.txt`, if any.

    A usage file assigns images to splits. If the server stores a salt (a secret that determines the split) for the
    phase and the ground truth folder contains no `salt.txt`, the salt is written to a file in the workspace.
    """
    added = [phase.usage] if phase.usage else []
    if phase.salt and not any((phase.truth / name).is_file() for name in NAMES):
        folder = workspace / f"{phase.slug}.added"
        folder.mkdir()
        added.append(folder / salt.NAME)
        added[-1].write_text(phase.salt, newline="")
    return added


def _arguments(phase: TruthSource, added: list[Path]) -> list[str]:
    words = [phase.track, "--truth", str(phase.truth)]
    words += [word for path in added if path.name == salt.NAME for word in ("--salt", str(path))]
    if phase.usage:
        words += ["--usage", str(phase.usage)]
    elif phase.public_share < 1 and not usage_file(phase.truth, None):
        words += ["--split", repr(phase.public_share), "--seed", str(phase.split_seed)]
    return words + settings_of(phase.parameters)


def usage_file(truth: Path, beside: Path | None) -> Path | None:
    """Return the file that assigns the images to splits: ``beside`` or, without it, the one in the folder, if any."""
    return beside or next(filter(Path.is_file, (truth / name for name in USAGES)), None)


def settings_of(parameters: Mapping[str, Any]) -> list[str]:
    """Return the parameters of a phase as command-line options of the form ``--set NAME=VALUE``."""
    words = []
    for name, value in parameters.items():
        words += ["--set", f"{name}={'/'.join(map(repr, value)) if isinstance(value, list) else value}"]
    return words


def locate(file: str | None, phase: TruthSource) -> str:
    """Return the path of a ground truth file relative to the folder of the bundle."""
    folder = f"phases/{phase.slug}/truth"
    if phase.usage is not None and file in ("usage.csv", phase.usage.name):
        return f"phases/{phase.slug}/{phase.usage.name}"
    return f"{folder}/{file}" if file else folder
