"""Checks the ground truths, baselines and sample submissions in a bundle, even if challenge.yaml has errors.

Baselines are submissions from the organizers.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from evaluator.bundle.declared import BundlePhase
from evaluator.bundle.locating import located
from evaluator.bundle.mistakes import InvalidBundle, Mistakes
from evaluator.bundle.truths import Podium, missing_files, settings_of
from evaluator.problems import Problem


class Compiled(Protocol):
    """The interface of a prepared ground truth, as returned by the `prepare` callback of `check_files`."""

    @property
    def compiled(self) -> Path:
        """Return the path of the prepared ground truth file."""

    @property
    def warnings(self) -> list[Problem]:
        """Return the warnings about the ground truth."""


P = TypeVar("P", bound=Compiled)


def check_files(
    phases: tuple[BundlePhase, ...], prepare: Callable[[BundlePhase], P], podium: Podium, mistakes: Mistakes
) -> dict[str, P]:
    """Prepare the ground truth of each phase, and check the baselines and the sample submission of the phase.

    Return a dict that maps the slug of each phase to its prepared ground truth. Errors and warnings are added to
    `mistakes`. A phase whose slug, track or ground truth files are missing is skipped, because these errors have
    already been reported.
    """
    prepared: dict[str, P] = {}
    for phase in _checkable(phases):
        try:
            prepared[phase.slug] = prepare(phase)
        except InvalidBundle as error:
            mistakes.extend(error.problems)
        else:
            mistakes.extend_warnings(prepared[phase.slug].warnings)
        truth = prepared.get(phase.slug)
        defects = list(check_submissions(phase, truth.compiled if truth else None, podium))
        mistakes.extend(defects)
        if truth and not defects:
            mistakes.extend_warnings(check_sample(phase, truth.compiled, podium))
    return prepared


def check_submissions(phase: BundlePhase, compiled: Path | None, podium: Podium) -> Iterator[Problem]:
    """Yield the defects in the baselines and the sample submission of a phase.

    Baselines (submissions from the organizers) are checked against the ground truth, so that they are not rejected
    after the import. Only the format of the sample submission is checked, because the sample submission is published
    and must not depend on the ground truth.
    """
    checked = [(baseline, compiled) for baseline in dict.fromkeys(baseline.file for baseline in phase.baselines)]
    checked += [(phase.sample, None)] if phase.sample else []
    for file, truth in checked:
        known = ("--truth", str(truth)) if truth else ()
        found = podium("check", phase.track, "--submission", str(file), *known, *settings_of(phase.parameters))
        yield from located(found["errors"], found["counts"], partial(_locate, phase=phase, file=file))


def check_sample(phase: BundlePhase, compiled: Path, podium: Podium) -> list[Problem]:
    """Return a warning if the sample submission has defects that only a check against the ground truth finds.

    If participants submitted this file, it would be rejected. The warning quotes the first defect.
    """
    if phase.sample is None:
        return []
    found = podium(
        "check",
        phase.track,
        "--submission",
        str(phase.sample),
        "--truth",
        str(compiled),
        *settings_of(phase.parameters),
    )
    if not found["errors"]:
        return []
    first, count = found["errors"][0], sum(found["counts"].values())
    message = f"this sample cannot be scored: {first['message']}"
    if count > 1:
        message += f" ({count:,} defects in total)"
    place = _locate(None, phase=phase, file=phase.sample)
    return [Problem("sample_rejected", message, line=first.get("line"), column=first.get("column"), file=place)]


def _checkable(phases: tuple[BundlePhase, ...]) -> Iterator[BundlePhase]:
    seen: set[str] = set()
    for phase in phases:
        if phase.slug and phase.track and phase.slug not in seen:
            if not missing_files(phase.declared_track, phase.truth):
                yield phase
            seen.add(phase.slug)


def _locate(_: str | None, *, phase: BundlePhase, file: Path) -> str:
    """Return the path of a submission file inside the bundle. Messages about defects of the file show this path."""
    return f"phases/{phase.slug}/{file.relative_to(phase.folder).as_posix()}"
