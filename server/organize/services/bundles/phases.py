"""Reads the phases in challenge.yaml: track, parameters, split, quota, feedback, baselines, and their files."""

from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings

from evaluator.catalog import TRACKS
from evaluator.problems import InvalidParameters
from server.challenges.validation import INTEGER_RANGES, LADDER_MARGINS, check_feedback
from server.organize.services.bundles.declared import Baseline, BundlePhase
from server.organize.services.bundles.mistakes import Mistakes
from server.organize.services.bundles.section import Section
from server.organize.services.bundles.values import (
    integer,
    moment,
    number,
    one_of,
    parameter,
    share,
    slug,
    switch,
    team_name,
    text,
)

FEEDBACK = {"feedback": "scores", "feedback_decimals": "decimals", "feedback_classes": "classes"}
SEED_MAX = 2**32 - 1
ATTEMPTS_PER_DAY = 20


def read_phases(challenge: Section, folder: Path, mistakes: Mistakes) -> tuple[BundlePhase, ...]:
    """Read every phase; a challenge without one is a mistake."""
    sections = challenge.sections("phases")
    if not sections:
        challenge.wrong("phases", "missing_key", "at least one phase is required")
    phases: list[BundlePhase] = []
    for section in sections:
        with section:
            phases.append(_read_phase(section, folder, mistakes))
        if phases[-1].slug and phases[-1].slug in {phase.slug for phase in phases[:-1]}:
            section.wrong("slug", "duplicate_phase", f"{phases[-1].slug} is the slug of an earlier phase")
    return tuple(phases)


def _read_phase(section: Section, folder: Path, mistakes: Mistakes) -> BundlePhase:
    name = section.need("slug", slug, "")
    home = folder / "phases" / name
    track = section.need("track", one_of(*TRACKS), "")
    if name and track:
        _check_truth(track, home, folder, mistakes)
    return BundlePhase(
        slug=name,
        title=section.take("title", text(120), name.replace("-", " ").capitalize()),
        track=track,
        parameters=_read_parameters(section, track),
        opens_at=section.take("opens_at", moment, None),
        closes_at=section.take("closes_at", moment, None),
        finals=section.take("finals", integer(*INTEGER_RANGES["finals"]), 2),
        baselines=_read_baselines(section, home, phase=name),
        folder=home,
        line=section.line(),
        opens_line=section.line("opens_at"),
        closes_line=section.line("closes_at"),
        **_read_split(section, home),
        **_read_quota(section),
        **_read_feedback(section, track),
    )


def _read_parameters(phase: Section, track: str) -> dict[str, Any]:
    """Return all parameters of the track. The values in challenge.yaml are parsed by the track."""
    with phase.section("parameters") as section:
        taken = {name: section.take(name, parameter, None) for name in section.names()}
        given = {name: value for name, value in taken.items() if value is not None}
        complete = _resolved(section, track, given) if track else {}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in complete.items()}  # as JSON


def _resolved(section: Section, track: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return all parameters, checked together. Invalid values are reported and replaced by their defaults."""
    try:
        return TRACKS[track].resolve(given)
    except InvalidParameters as error:
        message = str(error)
        name = max((name for name in given if message.startswith((f"{name}:", f"{name}="))), key=len)
        section.wrong(name, "bad_parameter", message.removeprefix(f"{name}: "))
        return _resolved(section, track, {other: value for other, value in given.items() if other != name})


def _read_split(phase: Section, home: Path) -> dict[str, Any]:
    usages = [path for path in (home / "usage.csv", home / "truth" / "usage.csv") if _exists(path)]
    if len(usages) > 1:
        phase.wrong("slug", "two_usages", "usage.csv exists next to the truth folder and inside it; keep one")
    if usages and phase.has("split"):
        phase.wrong("split", "split_and_usage", "usage.csv splits the images already; remove one of the two")
    with phase.section("split") as section:
        return {
            "public_share": section.take("public", share, 1.0),
            "split_seed": section.take("seed", integer(0, SEED_MAX), 0),
            "split_seeded": section.has("seed"),
        }


def _read_quota(phase: Section) -> dict[str, Any]:
    with phase.section("quota") as section:
        per_day = section.take("per_day", integer(*INTEGER_RANGES["quota_per_day"]), 5)
        return {
            "quota_per_day": per_day,
            "quota_total": section.take("total", integer(*INTEGER_RANGES["quota_total"]), None),
            "attempts_per_day": section.take(
                "attempts_per_day", integer(*INTEGER_RANGES["attempts_per_day"]), max(per_day, ATTEMPTS_PER_DAY)
            ),
        }


def _read_feedback(phase: Section, track: str) -> dict[str, Any]:
    with phase.section("feedback") as section:
        scores = section.take("scores", one_of("exact", "rounded", "ladder"), "exact")
        decimals = section.take("decimals", integer(*INTEGER_RANGES["feedback_decimals"]), None)
        classes = section.take("classes", switch, False)
        given = (decimals or 0) if section.has("decimals") else None  # an invalid number has been reported already
        for violation in check_feedback(track=track, feedback=scores, decimals=given, classes=classes):
            section.wrong(FEEDBACK[violation.field], violation.code, violation.message)
        return {
            "feedback": scores,
            "feedback_decimals": decimals,
            "feedback_classes": classes,
            "ladder_standard_errors": _read_ladder(phase, scores),
        }


def _read_ladder(phase: Section, scores: str) -> float | None:
    """Return the number of standard errors by which a score must improve to be shown; None for the default."""
    if phase.has("ladder") and scores != "ladder":
        phase.wrong("ladder", "bad_value", "is only allowed with `feedback: {scores: ladder}`; remove it")
    with phase.section("ladder") as section:
        return section.take("standard_errors", number(*LADDER_MARGINS), None)


def _read_baselines(parent: Section, home: Path, *, phase: str) -> tuple[Baseline, ...]:
    baselines: list[Baseline] = []
    for section in parent.sections("baselines"):
        with section:
            name, file = section.need("name", team_name, ""), section.need("file", text(200), "")
        path = PurePosixPath(file)
        if file and (path.is_absolute() or ".." in path.parts):
            section.wrong("file", "unsafe_path", f"{file} is outside the phase's folder")
        elif file and phase and not (home / path).is_file():
            section.wrong("file", "missing_file", f"there is no phases/{phase}/{file}")
        elif file and phase:
            _check_size(section, home / path)
        if name and name.casefold() in {baseline.name.casefold() for baseline in baselines}:
            section.wrong("name", "duplicate_baseline", f"{name} is the name of an earlier baseline")
        baselines.append(Baseline(name=name, file=home / path, line=section.line("name")))
    return tuple(baselines)


def _check_size(baseline: Section, file: Path) -> None:
    """Report a baseline file that is too large to submit. Otherwise the challenge would be imported without it."""
    size, allowed = file.stat().st_size, settings.UPLOAD_MAX_BYTES
    if size > allowed:
        message = f"has {size:,} bytes; {allowed:,} are allowed. Compress it with gzip"
        baseline.wrong("file", "file_too_large", message)


def _check_truth(track: str, home: Path, folder: Path, mistakes: Mistakes) -> None:
    """Report required files that are missing from the truth folder. The evaluator checks the content of all files."""
    for file in TRACKS[track].missing(lambda name: _exists(home / "truth" / name)):
        path = (home / "truth" / file.name).relative_to(folder).as_posix()
        mistakes.add("truth_missing_file", f"is missing, and {track} needs it: {file.meaning}", file=path)


def _exists(path: Path) -> bool:
    """Return whether a file or folder exists, or a gzipped file of this name."""
    return path.exists() or path.with_name(f"{path.name}.gz").is_file()
