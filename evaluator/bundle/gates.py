"""Runs the gate of a phase, a set of checks that must pass before the phase accepts submissions.

The checks are run by the command `podium gate`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.bundle.truths import Podium, TruthSource, locate, settings_of
from evaluator.catalog import GATE_CHECKS
from evaluator.problems import Problem

CHECKS = {check.name: check for check in GATE_CHECKS}


@dataclass(frozen=True, slots=True)
class Tested:
    """The input of the gate: a prepared ground truth, and the parameters and sample submission of its phase.

    The gate tests a ground truth before its phase opens. If there is no sample submission, a template submission is
    tested.
    """

    track: str
    parameters: Mapping[str, Any]
    compiled: Path
    sample: Path | None


def run_gate(tested: Tested, podium: Podium, *options: str) -> dict[str, Any]:
    """Return the JSON output of `podium gate`, which tests a ground truth before its phase opens.

    The output is a dict with `evaluator`, `green` (whether all checks passed) and `checks`. It is empty if the prepared
    ground truth cannot be read.
    """
    words = [tested.track, "--truth", str(tested.compiled), *settings_of(tested.parameters)]
    words += ["--sample", str(tested.sample)] if tested.sample else []
    found = podium("gate", *words, *options)
    return {} if "errors" in found else found


def gate_warnings(gate: Mapping[str, Any], phase: TruthSource) -> list[Problem]:
    """Return a warning for each failed check in `gate`, which is the result of :func:`run_gate`."""
    place = locate(None, phase)
    return [
        Problem(f"gate_{one['name']}", warning_text(one), file=place)
        for one in gate.get("checks", [])
        if not one["passed"]
    ]


def warning_text(result: Mapping[str, Any]) -> str:
    """Return a message that explains why a failed check keeps the phase closed, and how to fix the problem."""
    check = CHECKS[result["name"]]
    return (
        f"this check failed, so the phase will not accept submissions. {check.tried} Expected: "
        f"{result['expected']}. Result: {result['got']}. {check.advice}"
    )
