"""Runs the gates of ground truths in child processes, and stores their results with the truth versions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from evaluator.bundle.gates import Tested, run_gate
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.gate import is_current, tested_settings
from server.challenges.models import Phase, Truth
from server.organize import podium
from server.organize.services import kits


def run(*, track: str, parameters: Mapping[str, Any], compiled: Path, sample: Path | None) -> dict[str, Any] | None:
    """Return the result of the gate with the tested settings, or None if the prepared truth is unreadable."""
    tested = Tested(track, parameters, compiled, sample)
    found = run_gate(tested, podium.answer, *kits.limit_options())
    return {**found, "settings": tested_settings(track, parameters)} if found else None


def sample_of(phase: Phase) -> Path | None:
    """Return the sample submission that participants download, or None if it is missing."""
    path = Path(phase.sample_submission.path) if phase.sample_submission else None
    return path if path and path.is_file() else None


def run_again(truth: Truth, *, by: User | None) -> None:
    """Run the gate of a stored truth with the current settings and sample of its phase, and store the result."""
    phase = Phase.objects.get(pk=truth.phase_id)
    compiled = Path(truth.prepared.path)
    gate = run(track=phase.track, parameters=phase.parameters, compiled=compiled, sample=sample_of(phase))
    with transaction.atomic():
        store(truth, gate)
        detail = {"version": truth.version, "green": bool(gate and gate["green"])}
        audit.record(actor=by, action="truth.tested", subject=f"phase {phase}", detail=detail)


def ensure(truth: Truth, *, by: User | None) -> None:
    """Run the gate of a truth if its phase needs it, and it has not been run with the current settings and sample."""
    phase = Phase.objects.get(pk=truth.phase_id)
    if not (phase.gate_exempt or is_current(truth, phase)):
        run_again(truth, by=by)


def store(truth: Truth, gate: dict[str, Any] | None) -> None:
    """Store a result. None means that the gate has not been run."""
    truth.gate = gate
    Truth.objects.filter(pk=truth.pk).update(gate=gate)


def forget(phase: Phase) -> None:
    """Remove the results of all truth versions of a phase, because its sample has changed."""
    phase.truths.update(gate=None)
