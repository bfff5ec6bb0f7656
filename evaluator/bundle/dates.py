"""Checks the dates in a bundle, and reports errors with the line in challenge.yaml."""

from datetime import datetime

from evaluator.bundle.declared import Bundle, BundlePhase
from evaluator.bundle.mistakes import Mistakes
from evaluator.bundle.rules import Violation, check_dates, check_opening, check_order


def report_dates(phase: BundlePhase, *, start: datetime | None, end: datetime | None, mistakes: Mistakes) -> None:
    """Report dates of a phase that contradict the ``start`` or ``end`` date of its challenge."""
    for violation in check_dates(phase.opens_at, phase.closes_at, start=start, end=end):
        _add(violation, phase, mistakes)


def report_opening(bundle: Bundle, opens_at: datetime, mistakes: Mistakes) -> None:
    """Report an error if a challenge, or one of its phases, closes before it opens.

    ``opens_at`` is the opening date of the challenge. If challenge.yaml has none, the challenge opens on import.
    """
    if violation := check_opening(opens_at, bundle.closes_at):
        mistakes.add(violation.code, violation.message, line=bundle.closes_line, key=violation.field)
        return
    for phase in bundle.phases:
        if violation := check_order(phase.opens_at, phase.closes_at, start=opens_at, end=bundle.closes_at):
            _add(violation, phase, mistakes)


def _add(violation: Violation, phase: BundlePhase, mistakes: Mistakes) -> None:
    line = phase.closes_line if violation.field == "closes_at" else phase.opens_line
    mistakes.add(violation.code, violation.message, line=line, key=f"{phase.key}.{violation.field}")
