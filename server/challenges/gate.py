"""The gate of a phase: a phase accepts submissions only after its active ground truth has passed all checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.bundle.gates import CHECKS
from server.challenges.models import Phase, Truth

STATES = GREEN, RED, NOT_RUN = ("green", "red", "not run")


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check, as organizers see it."""

    name: str
    tried: str
    expected: str
    got: str
    passed: bool
    advice: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of a truth version: its state, whether the phase needs it, and the results of the last run."""

    state: str
    is_needed: bool
    checks: list[Check]


def tested_settings(track: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the gate of a truth is valid for: the track and the parameters that the phase sets.

    They contain neither defaults nor the version of the evaluator, so an upgrade does not close running phases.
    """
    return {"track": track, "parameters": dict(parameters)}


def result_of(truth: Truth) -> dict[str, Any]:
    """Return the stored result of the gate. It is empty if the gate has not been run."""
    return truth.gate or {}


def is_current(truth: Truth, phase: Phase) -> bool:
    """Return whether the gate of a truth has been run with the current settings of the phase."""
    return result_of(truth).get("settings") == tested_settings(phase.track, phase.parameters)


def is_green(truth: Truth, phase: Phase) -> bool:
    """Return whether a truth has passed all checks with the current settings of the phase."""
    return is_current(truth, phase) and bool(result_of(truth)["green"])


def may_open(phase: Phase) -> bool:
    """Return whether a phase may accept submissions. Its dates are not considered."""
    truth = phase.truth
    return truth is not None and (phase.gate_exempt or is_green(truth, phase))


def gate_of(truth: Truth, phase: Phase) -> Gate:
    """Return the gate of a truth for organizers."""
    state = NOT_RUN if not is_current(truth, phase) else GREEN if result_of(truth)["green"] else RED
    return Gate(state, is_needed=not phase.gate_exempt, checks=checks_of(truth))


def checks_of(truth: Truth) -> list[Check]:
    """Return the results of the last run, in the order of the checks. The list is empty if there was no run."""
    results: list[dict[str, Any]] = result_of(truth).get("checks", [])
    return [
        Check(
            name=one["name"],
            tried=CHECKS[one["name"]].tried,
            expected=one["expected"],
            got=one["got"],
            passed=one["passed"],
            advice=CHECKS[one["name"]].advice,
        )
        for one in results
    ]
