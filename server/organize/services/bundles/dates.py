"""Checks the dates of a phase, and reports mistakes at their lines of challenge.yaml."""

from datetime import datetime

from server.challenges.validation import Violation, check_dates, check_order
from server.organize.services.bundles.declared import BundlePhase
from server.organize.services.bundles.mistakes import Mistakes


def report_dates(
    phase: BundlePhase, *, opens_at: datetime | None, closes_at: datetime | None, mistakes: Mistakes
) -> None:
    """Report dates of a phase that contradict those of its challenge."""
    for violation in check_dates(phase.opens_at, phase.closes_at, start=opens_at, end=closes_at):
        _add(violation, phase, mistakes)


def report_order(
    phase: BundlePhase, *, opens_at: datetime | None, closes_at: datetime | None, mistakes: Mistakes
) -> None:
    """Report a phase that would never be open."""
    if violation := check_order(phase.opens_at, phase.closes_at, start=opens_at, end=closes_at):
        _add(violation, phase, mistakes)


def _add(violation: Violation, phase: BundlePhase, mistakes: Mistakes) -> None:
    line = phase.closes_line if violation.field == "closes_at" else phase.opens_line
    mistakes.add(violation.code, f"{violation.field}: {violation.message}", line=line)
