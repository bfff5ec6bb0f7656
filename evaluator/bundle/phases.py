"""Reads the phases in challenge.yaml, and checks that the files of each phase exist."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from evaluator.bundle.declared import Baseline, BundlePhase
from evaluator.bundle.keys import ATTEMPTS_PER_DAY
from evaluator.bundle.limits import BundleLimits
from evaluator.bundle.mistakes import Mistakes
from evaluator.bundle.rules import check_feedback
from evaluator.bundle.section import Section
from evaluator.bundle.truths import exists, missing_files, other_track
from evaluator.bundle.values import nearest
from evaluator.catalog import TRACKS
from evaluator.problems import InvalidParameters

FEEDBACK = {"feedback": "scores", "feedback_decimals": "decimals", "feedback_classes": "classes"}


def read_phases(challenge: Section, folder: Path, mistakes: Mistakes, limits: BundleLimits) -> tuple[BundlePhase, ...]:
    """Read all phases in challenge.yaml. Report an error if there are none."""
    sections = challenge.sections("phases")
    if not sections:
        challenge.wrong("phases", "missing_key", "at least one phase is required")
    phases: list[BundlePhase] = []
    for section in sections:
        phase = _PhaseReader(section, folder, mistakes, limits).read()
        if phase.slug and phase.slug in {earlier.slug for earlier in phases}:
            section.wrong("slug", "duplicate_phase", f"{phase.slug} is the slug of an earlier phase")
        phases.append(phase)
    return tuple(phases)


@dataclass(frozen=True, slots=True)
class _PhaseReader:
    """A reader for one phase in challenge.yaml. `folder` is the folder of the bundle."""

    section: Section
    folder: Path
    mistakes: Mistakes
    limits: BundleLimits

    def read(self) -> BundlePhase:
        section = self.section
        name, track = section.take("slug"), section.take("track")
        home = self.folder / "phases" / name
        if name and track:
            self._check_truth(track, home)
        return BundlePhase(
            slug=name,
            title=section.take("title", default=name.replace("-", " ").capitalize()),
            track=track,
            parameters=_read_parameters(section.section("parameters"), track),
            opens_at=section.take("opens_at"),
            closes_at=section.take("closes_at"),
            freeze_at=section.take("freeze_at"),
            reveal=section.take("reveal"),
            finals=section.take("finals"),
            baselines=self._read_baselines(home, phase=name),
            folder=home,
            key=section.path("").removesuffix("."),
            line=section.line(),
            opens_line=section.line("opens_at"),
            closes_line=section.line("closes_at"),
            freeze_line=section.line("freeze_at"),
            **_read_split(section, home),
            **_read_quota(section.section("quota")),
            **self._read_feedback(track),
        )

    def _check_truth(self, track: str, home: Path) -> None:
        """Report required files that are missing from the ground truth folder. The file contents are checked later."""
        truth = home / "truth"
        missing = missing_files(TRACKS[track], truth)
        other = other_track(TRACKS[track], truth)
        for file in missing:
            path = (truth / file.name).relative_to(self.folder).as_posix()
            hint = f"; {found}" if (found := self._elsewhere(file.name, home)) else other
            message = f"is missing, but the track {track} requires it: {file.meaning}{hint}"
            self.mistakes.add("truth_missing_file", message, file=path)

    def _elsewhere(self, name: str, home: Path) -> str:
        """Return a hint about where a missing ground truth file may be: under a similar name or in another folder.

        The hint is empty if there is no such file.
        """
        if hint := nearest(name, [path.name for path in (home / "truth").glob("*")]):
            return hint
        names = (name.lower(), f"{name.lower()}.gz")
        found = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name.lower() in names)
        return f"did you mean {found[0].relative_to(self.folder).as_posix()}?" if found else ""

    def _read_feedback(self, track: str) -> dict[str, Any]:
        section = self.section.section("feedback")
        scores, decimals, classes = (section.take(name) for name in ("scores", "decimals", "classes"))
        # `decimals` is the number of decimal places to which published scores are rounded. If it is invalid, an error
        # has already been reported. It is then replaced by 0, because `check_feedback` would report None as missing.
        given = (decimals or 0) if section.has("decimals") else None
        for violation in check_feedback(
            track=track, feedback=scores, decimals=given, classes=classes, intervals=self.limits.intervals
        ):
            section.wrong(FEEDBACK[violation.field], violation.code, violation.message)
        if self.section.has("ladder") and scores != "ladder":
            message = "is only allowed with `feedback: {scores: ladder}`; remove it"
            self.section.wrong("ladder", "bad_value", message)
        return {
            "feedback": scores,
            "feedback_decimals": decimals,
            "feedback_classes": classes,
            "ladder_standard_errors": self.section.section("ladder").take("standard_errors"),
        }

    def _read_baselines(self, home: Path, *, phase: str) -> tuple[Baseline, ...]:
        """Read the baselines of a phase, which are submissions from the organizers.

        Report and skip baselines whose file is not in the folder of the phase or is too large.
        """
        baselines: list[Baseline] = []
        names: set[str] = set()
        for section in self.section.sections("baselines"):
            name, file = section.take("name"), section.take("file")
            if name and name.casefold() in names:
                section.wrong("name", "duplicate_baseline", f"another baseline is already named {name}")
            names.add(name.casefold())
            if file and phase and self._has_file(section, PurePosixPath(file), home):
                baselines.append(Baseline(name=name, file=home / file, line=section.line("name")))
        return tuple(baselines)

    def _has_file(self, baseline: Section, file: PurePosixPath, home: Path) -> bool:
        """Return whether a baseline's file is in the folder of the phase and not too large. If not, report an error."""
        path, allowed = home / file, self.limits.upload_bytes
        if file.is_absolute() or ".." in file.parts:
            baseline.wrong("file", "unsafe_path", f"{file} is outside the phase's folder")
        elif not path.is_file():
            hint = nearest(str(file), [each.relative_to(home).as_posix() for each in home.rglob("*")])
            message = f"phases/{home.name}/{file} does not exist{f'; {hint}' if hint else ''}"
            baseline.wrong("file", "missing_file", message)
        elif path.stat().st_size > allowed:
            # A baseline file that is too large causes an error, not a warning. With a warning, the challenge would be
            # imported without the baseline.
            message = f"is {path.stat().st_size:,} bytes long; at most {allowed:,} are allowed. Compress it with gzip"
            baseline.wrong("file", "file_too_large", message)
        else:
            return True
        return False


def _read_parameters(section: Section, track: str) -> dict[str, Any]:
    """Return the values of all parameters of the track, parsed from challenge.yaml or set to their defaults."""
    if not track:
        return {}
    given = section.parameters()
    known = {parameter.name for parameter in TRACKS[track].parameters}
    # Unknown parameters are reported one by one, because `_resolved` calls itself once for each wrong parameter, and a
    # file can contain thousands.
    for name in [name for name in given if name not in known]:
        _resolved(section, track, {name: given.pop(name)})
    complete = _resolved(section, track, given)
    # Tuples become lists, because the parameters are stored as JSON, which has no tuples.
    return {name: list(value) if isinstance(value, tuple) else value for name, value in complete.items()}


def _resolved(section: Section, track: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the checked values of all parameters of the track. Report invalid values and use the defaults instead."""
    try:
        return TRACKS[track].resolve(given)
    except InvalidParameters as error:
        message = str(error)
        name = max((name for name in given if message.startswith((f"{name}:", f"{name}="))), key=len)
        known = [parameter.name for parameter in TRACKS[track].parameters]
        hint = nearest(name, known) if name not in known else ""
        section.wrong(name, "bad_parameter", f"{message.removeprefix(f'{name}: ')}{f'; {hint}' if hint else ''}")
        return _resolved(section, track, {other: value for other, value in given.items() if other != name})


def _read_split(phase: Section, home: Path) -> dict[str, Any]:
    usages = [path for path in (home / "usage.csv", home / "truth" / "usage.csv") if exists(path)]
    if len(usages) > 1:
        phase.wrong("slug", "two_usages", "usage.csv exists both next to the truth folder and inside it; keep only one")
    if usages and phase.has("split"):
        phase.wrong(
            "split", "split_and_usage", "usage.csv already divides the images; remove either split or usage.csv"
        )
    section = phase.section("split")
    return {
        "public_share": section.take("public"),
        "split_seed": section.take("seed"),
        "split_seeded": section.has("seed"),
    }


def _read_quota(section: Section) -> dict[str, Any]:
    per_day = section.take("per_day")
    return {
        "quota_per_day": per_day,
        "quota_total": section.take("total"),
        "attempts_per_day": section.take("attempts_per_day", default=max(per_day, ATTEMPTS_PER_DAY)),
    }
