"""The gate of a phase: automatic checks of the active ground truth.

A phase accepts submissions only after its ground truth has passed all checks.
"""

from dataclasses import dataclass
from typing import Any

from evaluator.bundle.gates import CHECKS
from evaluator.bundle.truths import TruthSource
from server.challenges.models import Phase, Truth

STATES = GREEN, RED, NOT_RUN = ("green", "red", "not run")


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one automatic check of a ground truth, as shown to organizers."""

    name: str
    tried: str
    expected: str
    got: str
    passed: bool
    advice: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one version of a ground truth, as shown to organizers.

    `state` is "green", "red" or "not run". `is_needed` is true if the phase accepts submissions only when the gate is
    green. `unfinished` is the reason why the last run did not finish, or empty.
    """

    state: str
    is_needed: bool
    unfinished: str
    checks: list[Check]


def tested_settings(phase: Phase | TruthSource, sample_sha256: str) -> dict[str, Any]:
    """Return the settings that affect the result of a gate (the automatic checks of a ground truth).

    They are settings of the phase, and the sha256 of its sample submission. Default parameters and the version of the
    evaluator are left out, so that an upgrade does not close running phases.
    """
    return {
        "track": phase.track,
        "parameters": dict(phase.parameters),
        "split": [phase.public_share, phase.split_seed],
        "sample": sample_sha256,
    }


def current_settings(phase: Phase) -> dict[str, Any]:
    """Return the current settings of a phase that affect the result of its gate.

    The gate is a set of automatic checks of the ground truth. Its result is current if it was run with these settings.
    """
    return tested_settings(phase, phase.sample_sha256)


def result_of(truth: Truth) -> dict[str, Any]:
    """Return the stored result of a ground truth's gate (its automatic checks). It is empty before they are run."""
    return truth.gate or {}


def is_current(truth: Truth, phase: Phase) -> bool:
    """Return whether a ground truth's gate (its automatic checks) has been run with the phase's current settings."""
    return result_of(truth).get("settings") == current_settings(phase)


def is_green(truth: Truth, phase: Phase) -> bool:
    """Return whether a ground truth has passed all checks with the current settings of the phase."""
    return is_current(truth, phase) and bool(result_of(truth)["green"])


def is_exempt(truth: Truth, phase: Phase) -> bool:
    """Return whether a ground truth is exempt from the gate (the automatic checks that it would have to pass).

    Only the active ground truth of a phase that is older than the gate feature is exempt.
    """
    return bool(phase.gate_exempt and truth.active)


def may_open(phase: Phase) -> bool:
    """Return whether the gate of a phase (the automatic checks of its ground truth) allows submissions.

    The dates of the phase are not considered.
    """
    truth = phase.truth
    return truth is not None and (is_exempt(truth, phase) or is_green(truth, phase))


def gate_of(truth: Truth, phase: Phase) -> Gate:
    """Return the gate of a ground truth (the results of its automatic checks), as shown to organizers."""
    state = NOT_RUN if not is_current(truth, phase) else GREEN if result_of(truth)["green"] else RED
    return Gate(
        state,
        is_needed=not is_exempt(truth, phase),
        unfinished=result_of(truth).get("unfinished", ""),
        checks=checks_of(truth),
    )


def checks_of(truth: Truth) -> list[Check]:
    """Return the results of all checks in the last run of a ground truth's gate.

    The gate is a set of automatic checks. The list is empty if the gate has not been run.
    """
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
