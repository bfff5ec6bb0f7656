"""The dates of a phase beside those of its challenge, checked at their lines of challenge.yaml."""

from datetime import datetime

from server.challenges.terms import Fault, date_faults, order_fault
from server.organize.services.bundles.declared import BundlePhase
from server.organize.services.bundles.mistakes import Mistakes


def check_dates(
    phase: BundlePhase, *, opens_at: datetime | None, closes_at: datetime | None, mistakes: Mistakes
) -> None:
    """Note where the dates of a phase contradict the ones that its challenge declares."""
    for fault in date_faults(phase.opens_at, phase.closes_at, start=opens_at, end=closes_at):
        _add(fault, phase, mistakes)


def check_order(
    phase: BundlePhase, *, opens_at: datetime | None, closes_at: datetime | None, mistakes: Mistakes
) -> None:
    """Note where the phase would never be open."""
    if fault := order_fault(phase.opens_at, phase.closes_at, start=opens_at, end=closes_at):
        _add(fault, phase, mistakes)


def _add(fault: Fault, phase: BundlePhase, mistakes: Mistakes) -> None:
    line = phase.closes_line if fault.field == "closes_at" else phase.opens_line
    mistakes.add(fault.code, f"{fault.field}: {fault.message}", line=line)
