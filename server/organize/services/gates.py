"""Runs the gates of ground truths in child processes, and stores the results.

A gate is a series of checks that a ground truth has to pass. Its result belongs to one version of the ground truth.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from evaluator.bundle.gates import Tested, run_gate
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.gate import GREEN, current_settings, gate_of, is_current, is_exempt, is_green, result_of
from server.challenges.models import Phase, Truth
from server.clock import database_now
from server.errors import Refused
from server.organize import podium
from server.organize.services import kits
from server.stored_files.copies import local_copy

CHANGED = (
    "The ground truth, the sample submission or the settings of the phase were changed while the gate was being run, "
    "so its result is not stored. Run the gate again."
)


def run(
    tested: Tested, tested_settings: Mapping[str, Any], *, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Run the gate (checks of a ground truth) and return its result, together with the settings that were tested.

    If the gate took too long, the result contains nothing but the key `unfinished` with the reason. If the prepared
    ground truth is unreadable, the result is empty. `progress` is called with a line of text whenever a check is
    complete.
    """
    answer = partial(podium.answer_with_progress, progress) if progress else podium.answer
    try:
        found = run_gate(tested, answer, *kits.limit_options())
    except podium.TookTooLong:
        return {"unfinished": f"it took longer than {settings.GATE_WALL_SECONDS} s (GATE_WALL_SECONDS)"}
    return {**found, "settings": tested_settings} if found else {}


@contextmanager
def sample_of(phase: Phase) -> Iterator[Path | None]:
    """Yield the path of the sample submission that participants download, or None if it is missing."""
    sample = phase.sample_submission
    if not (sample and sample.storage.exists(str(sample.name))):
        yield None
        return
    with local_copy(sample) as path:
        yield path


def is_settled(phase: Phase | None, sha256: str, tested_settings: Mapping[str, Any]) -> bool:
    """Return whether the gate (a series of checks) of a ground truth does not have to be run again.

    This is the case if the stored result is green and nothing that the gate tests has changed. It is also the case for
    the active ground truth of a phase that was created before gates were introduced, so that an upgrade of the
    evaluator cannot close a running phase.
    """
    truth = phase.truths.filter(sha256=sha256).first() if phase else None
    if phase is None or truth is None:
        return False
    found = result_of(truth)
    return is_exempt(truth, phase) or (found.get("settings") == tested_settings and bool(found["green"]))


def run_again(truth: Truth, *, by: User | None) -> None:
    """Run the gate (a series of checks) of a stored ground truth with its phase's settings, and store the result.

    Raises Refused if the ground truth, the settings or the phase's sample submission change in the meantime.
    """
    phase = Phase.objects.get(pk=truth.phase_id)
    try:
        with local_copy(truth.prepared) as prepared, sample_of(phase) as sample:
            tested = Tested(phase.track, phase.parameters, prepared, sample)
            gate = run(tested, current_settings(phase))
    except podium.Stopped as stopped:
        raise Refused("invalid", f"The gate of version {truth.version} {stopped.problems[0].message}.") from stopped
    with transaction.atomic():
        store(truth, gate)
        detail = {"version": truth.version, "green": gate.get("green", False)}
        audit.record(actor=by, action="truth.tested", subject=f"phase {phase}", detail=detail)


def ensure(truth: Truth, *, by: User | None) -> None:
    """Run the gate of a ground truth, unless a result for the current settings and sample submission is stored.

    A gate is a series of checks. The active ground truth of a phase that was created before gates were introduced is
    exempt.
    """
    phase = Phase.objects.get(pk=truth.phase_id)
    if not (is_exempt(truth, phase) or is_current(truth, phase)):
        run_again(truth, by=by)


def store(truth: Truth, gate: dict[str, Any] | None) -> None:
    """Store the result of a ground truth's gate (a series of checks), in the caller's transaction.

    If `gate` is None, nothing is stored: the gate was not run, because the stored result remains valid. If the gate did
    not finish in time, a green result that is already stored is kept.

    Raises Refused if the ground truth, its prepared file, or the settings or sample submission of the phase have
    changed in the meantime.
    """
    if gate is None:
        return
    phase = Phase.objects.select_for_update(no_key=True).filter(pk=truth.phase_id).first()
    found = Truth.objects.filter(pk=truth.pk, prepared=truth.prepared.name).first()
    is_outdated = "settings" in gate and phase and gate["settings"] != current_settings(phase)
    if phase is None or found is None or is_outdated:
        raise Refused("invalid", CHANGED)
    if "unfinished" not in gate or not is_green(found, phase):
        found.gate = gate
        found.save(update_fields=["gate"])
    truth.gate = found.gate


def refuse_closing(phase: Phase, truth: Truth) -> None:
    """Raise Refused if a phase that has not ended would accept no submissions with this ground truth.

    This is the case if the gate (a series of checks of the ground truth) is required but not green.
    """
    gate = gate_of(truth, phase)
    if gate.is_needed and gate.state != GREEN and not phase.has_ended(database_now()):
        raise Refused(
            "gate_not_green",
            f"The gate of version {truth.version} is not green ({gate.state}), so the phase would accept no "
            "submissions with it. The page of the version lists the checks and explains what to do. To apply "
            "the rescoring anyway, set without_gate.",
        )
