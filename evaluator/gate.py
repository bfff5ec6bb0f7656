"""Tests a prepared ground truth before its phase opens, by scoring perfect, worse and invalid submissions.

:data:`evaluator.catalog.GATE_CHECKS` declares the checks. The results of the checks contain scores and defect codes,
but no strings from the ground truth.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evaluator.catalog import GATE_CHECKS, TRACKS, Track
from evaluator.ceiling import ceilings_of, score_ceiling, without_required_images
from evaluator.gate_files import broken_files, write_half
from evaluator.problems import InvalidSubmission
from evaluator.report import Report
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import score, template

Scores = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a gate check: whether the check passed, the expected outcome, and the actual outcome.

    A gate check tests a ground truth before its phase opens.
    """

    name: str
    passed: bool
    expected: str
    got: str

    def as_dict(self) -> dict[str, Any]:
        """Return the result of the check as a JSON-serializable dict."""
        return {"name": self.name, "passed": self.passed, "expected": self.expected, "got": self.got}


@dataclass
class Trial:
    """A prepared ground truth to be tested, and the files that the gate checks create and score.

    The gate is a set of checks that a ground truth must pass before its phase opens.

    Attributes
    ----------
    track_name : str
    truth : Path
        The prepared ground truth.
    parameters : mapping
        The parameters of the phase.
    workspace : Path
        An existing folder for the files to score. These files contain the ground truth, so the caller must remove the
        folder.
    sample : Path or None
        The sample submission that participants download. If None, a template submission is created.
    resources : Resources
        The limits of submitted files, and the number of threads.
    """

    track_name: str
    truth: Path
    parameters: Mapping[str, Any]
    workspace: Path
    sample: Path | None = None
    resources: Resources = field(default_factory=Resources)

    @property
    def track(self) -> Track:
        """The declaration of the track to which the ground truth belongs."""
        return TRACKS[self.track_name]

    @cached_property
    def best(self) -> Report:
        """The report on the best possible submission, which predicts exactly the ground truth.

        Raises
        ------
        InvalidSubmission
        """
        return score_ceiling(self.track_name, self.truth, self._best_file, self.parameters, self.resources)

    @cached_property
    def half(self) -> Path:
        """Path of a file with half of the predictions in the best possible submission."""
        if not self._best_file.exists():
            _ = self.best
        path = self.path("half")
        write_half(self.track.form, self._best_file, self.template, path)
        return path

    @cached_property
    def template(self) -> Path:
        """Path of a template submission, which contains every image and no predictions."""
        path = self.path("template")
        template(self.track_name, self.truth, path)
        return path

    @cached_property
    def half_report(self) -> Report:
        """The report on the file with half of the predictions. This file may omit images.

        Raises
        ------
        InvalidSubmission
        """
        return self.scored_incomplete(self.half)

    @property
    def _best_file(self) -> Path:
        return self.path("best")

    def path(self, name: str) -> Path:
        """Return the path of a file to score, given the name of the file without its extension."""
        return self.workspace / f"{name}.{self.track.form.suffix}"

    def written(self, name: str, content: bytes) -> Path:
        """Write ``content`` to a new file, and return the path of the file."""
        path = self.path(name)
        path.write_bytes(content)
        return path

    def scored(self, submission: Path, parameters: Mapping[str, Any] | None = None) -> Report:
        """Score a file and return the report. By default, the parameters of the phase are used.

        Raises
        ------
        InvalidSubmission
        """
        chosen = self.parameters if parameters is None else parameters
        return score(
            ScoringRequest(self.track_name, self.truth, submission, parameters=chosen, resources=self.resources)
        )

    def scored_incomplete(self, submission: Path) -> Report:
        """Score a submission that may omit images, and return the report."""
        return self.scored(submission, without_required_images(self.track_name, self.parameters))


def run_checks(trial: Trial) -> Iterator[CheckResult]:
    """Run all checks of a ground truth in the order of :data:`evaluator.catalog.GATE_CHECKS`, and yield each result.

    Raises
    ------
    InvalidTruth, DamagedTruth, InvalidParameters, PreparedOtherwise
    """
    return (run_check(check.name, trial) for check in GATE_CHECKS)


def run_check(name: str, trial: Trial) -> CheckResult:
    """Run one check of a ground truth and return its result.

    If a file is rejected unexpectedly, the result contains the defect codes.

    Raises
    ------
    InvalidTruth, DamagedTruth, InvalidParameters, PreparedOtherwise
    """
    expected, check = _CHECKS[name]
    try:
        wrong, got = check(trial)
    except InvalidSubmission as error:
        wrong, got = True, _rejected(error)
    return CheckResult(name, not wrong, expected(trial), got)


def _check_ceiling(trial: Trial) -> tuple[bool, str]:
    found = headlines(trial.best)
    lost = ceilings_of(trial.best)["all"]["unreachable"]
    text = _text(found) + (f"; {lost:g} objects cannot be matched" if lost else "")
    return any(not value for value in found.values()), text


def _check_empty(trial: Trial) -> tuple[bool, str]:
    nothing = _outcome(trial, trial.written("nothing", b""))
    header = _outcome(trial, trial.written("header", trial.track.form.empty_file.encode()))
    text = f"0 bytes: {_text(nothing)}; no predictions: {_text(header)}"
    return isinstance(nothing, dict) or not _is_declared(trial, header), text


def _is_declared(trial: Trial, outcome: Scores | str) -> bool:
    """Return whether the outcome for a file without predictions, such as a score of 0, matches ``Track.empty``.

    A rejection is also accepted if the phase requires submissions to contain every image.
    """
    if isinstance(outcome, str):
        return trial.track.empty == "rejected" or bool(trial.parameters.get("require_all_images"))
    best = headlines(trial.best)
    if trial.track.empty == "zero":
        return all(not value for value in outcome.values())
    return trial.track.empty == "base rate" and all((outcome[s] or 0) <= (best[s] or 0) for s in outcome)


def _check_template(trial: Trial) -> tuple[bool, str]:
    return False, _text(headlines(trial.scored(trial.sample or trial.template)))


def _check_broken(trial: Trial) -> tuple[bool, str]:
    files, found = broken_files(trial.track.form), []
    for number, (content, _) in enumerate(files):
        found.append(_outcome(trial, trial.written(f"broken-{number}", content)))
    return found != [f"rejected: {code}" for _, code in files], "; ".join(_text(each) for each in found)


def _check_repeat(trial: Trial) -> tuple[bool, str]:
    first, second = (json.dumps(one.as_dict()) for one in (trial.half_report, trial.scored_incomplete(trial.half)))
    return first != second, "two identical reports" if first == second else "two different reports"


def _check_order(trial: Trial) -> tuple[bool, str]:
    best, half = headlines(trial.best), headlines(trial.half_report)
    lower = (half["all"] or 0.0) < (best["all"] or 0.0)
    higher = any((half[split] or 0.0) > (best[split] or 0.0) for split in best)
    return not lower or higher, f"{_text(best)}; without half of the predictions: {_text(half)}"


def headlines(report: Report) -> Scores:
    """Return the value of the headline metric on each split of a report."""
    return {name: split.metrics[split.headline] for name, split in report.splits.items()}


def _outcome(trial: Trial, submission: Path) -> Scores | str:
    try:
        return headlines(trial.scored(submission))
    except InvalidSubmission as error:
        return _rejected(error)


def _rejected(error: InvalidSubmission) -> str:
    return f"rejected: {', '.join(error.findings.counts)}"


def _text(outcome: Scores | str) -> str:
    """Format an outcome for organizers: the scores to five decimal places, or the reason for a rejection."""
    if isinstance(outcome, str):
        return outcome
    return ", ".join(f"{split} {'undefined' if value is None else f'{value:.5f}'}" for split, value in outcome.items())


def _expected_empty(trial: Trial) -> str:
    declared = {
        "zero": "a score of 0",
        "rejected": "rejected",
        "base rate": "the base rate, which is not above the ceiling",
    }
    required = " or rejected" if trial.parameters.get("require_all_images") else ""
    return f"0 bytes: rejected; no predictions: {declared[trial.track.empty]}{required}"


def _expected_broken(trial: Trial) -> str:
    return "; ".join(f"rejected: {code}" for _, code in broken_files(trial.track.form))


def _always(text: str) -> Callable[[Trial], str]:
    return lambda trial: text


# Each check of `podium gate` has two functions. The first returns a description of the expected outcome. The second
# runs the check, and returns whether it failed and a description of the actual outcome.
_CHECKS: dict[str, tuple[Callable[[Trial], str], Callable[[Trial], tuple[bool, str]]]] = {
    "ceiling": (
        _always("accepted, with a score above 0 on every split; 1 if all objects can be matched"),
        _check_ceiling,
    ),
    "empty": (_expected_empty, _check_empty),
    "template": (_always("accepted and scored"), _check_template),
    "broken": (_expected_broken, _check_broken),
    "repeat": (_always("two identical reports"), _check_repeat),
    "order": (
        _always("without half of the predictions, the score on all images is lower, and no split has a higher score"),
        _check_order,
    ),
}
