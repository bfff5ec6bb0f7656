"""Checks baselines and sample submissions of a bundle with the `podium` program, before anything is written."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from evaluator.problems import Problem
from server.organize.podium import run_podium
from server.organize.services.bundles import BundlePhase, InvalidBundle
from server.organize.services.locating import located
from server.organize.services.preparing import Prepared, settings_of

SUBMISSION_AT_FAULT = 2


def check_all(phases: tuple[BundlePhase, ...], prepared: dict[str, Prepared]) -> None:
    """Raise InvalidBundle with the defects of all baselines and samples.

    A baseline is checked against the truth, so that it is not rejected later. Only the format of a sample is checked,
    because the sample is published and must not depend on the truth.
    """
    problems: list[Problem] = []
    for phase in phases:
        baselines = dict.fromkeys(baseline.file for baseline in phase.baselines)
        checked: list[tuple[Path, Path | None]] = [(file, prepared[phase.slug].compiled) for file in baselines]
        checked += [(phase.sample, None)] if phase.sample else []
        for file, truth in checked:
            answer = findings_of(phase, file, truth=truth)
            problems += located(answer["errors"], answer["counts"], partial(locate, phase=phase, file=file))
    if problems:
        raise InvalidBundle(problems)


def locate(_: str | None, *, phase: BundlePhase, file: Path) -> str:
    """Return the path of the file inside the bundle. `podium check` reports no path for the file that it checks."""
    return f"phases/{phase.slug}/{file.relative_to(phase.folder).as_posix()}"


def findings_of(phase: BundlePhase, file: Path, *, truth: Path | None) -> dict[str, Any]:
    """Run `podium check … --json` and return its output."""
    known = ("--truth", str(truth)) if truth else ()
    words = ("check", phase.track, "--submission", str(file), *known, *settings_of(phase), "--json")
    ended = run_podium(*words, expected=(0, SUBMISSION_AT_FAULT))
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer
