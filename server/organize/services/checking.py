"""The baselines' files, checked against the prepared truths by the `podium` program, before anything is written."""

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
    """Raise InvalidBundle with the defects of all baselines, which would otherwise be rejected one by one later."""
    problems: list[Problem] = []
    for phase in phases:
        for file in dict.fromkeys(baseline.file for baseline in phase.baselines):
            answer = findings_of(phase, file, truth=prepared[phase.slug].compiled)
            problems += located(answer["errors"], answer["counts"], partial(place, phase=phase, baseline=file))
    if problems:
        raise InvalidBundle(problems)


def place(_: str | None, *, phase: BundlePhase, baseline: Path) -> str:
    """Name the file from the bundle's top; the program has no name for the one file that it checks."""
    return f"phases/{phase.slug}/{baseline.relative_to(phase.folder).as_posix()}"


def findings_of(phase: BundlePhase, file: Path, *, truth: Path) -> dict[str, Any]:
    """Return what `podium check … --json` prints."""
    words = ("check", phase.track, "--submission", str(file), "--truth", str(truth), *settings_of(phase), "--json")
    ended = run_podium(*words, expected=(0, SUBMISSION_AT_FAULT))
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer
