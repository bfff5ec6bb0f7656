"""Checks the dates in a bundle, and reports errors with the line in challenge.yaml."""

from datetime import datetime

from evaluator.bundle.declared import Bundle, BundlePhase
from evaluator.bundle.mistakes import Mistakes
from evaluator.bundle.rules import Violation, check_dates, check_freeze, check_opening, check_order


def report_dates(phase: BundlePhase, *, start: datetime | None, end: datetime | None, mistakes: Mistakes) -> None:
    """Report dates of a phase that contradict each other, or the ``start`` or ``end`` date of its challenge."""
    dates = {"freeze_at": phase.freeze_at, "start": start, "end": end}
    for violation in check_dates(phase.opens_at, phase.closes_at, **dates):
        _add(violation, phase, mistakes)
    closing = min(filter(None, (phase.closes_at, end)), default=None)
    # With a manual reveal, the public leaderboard can be frozen after the phase has closed.
    if phase.freeze_at and closing and phase.freeze_at >= closing and phase.reveal == "at_close":
        message = "is not before the phase closes, so it has no effect unless a team gets more time"
        mistakes.warn("no_effect", message, line=phase.freeze_line, key=f"{phase.key}.freeze_at")


def report_opening(bundle: Bundle, opens_at: datetime, mistakes: Mistakes) -> None:
    """Report an error if a challenge, or one of its phases, closes or is frozen before it opens.

    ``opens_at`` is the opening date of the challenge. If challenge.yaml has none, the challenge opens on import.
    """
    if violation := check_opening(opens_at, bundle.closes_at):
        mistakes.add(violation.code, violation.message, line=bundle.closes_line, key=violation.field)
        return
    for phase in bundle.phases:
        order = check_order(phase.opens_at, phase.closes_at, start=opens_at, end=bundle.closes_at)
        for violation in filter(None, (order, check_freeze(phase.freeze_at, phase.opens_at, start=opens_at))):
            _add(violation, phase, mistakes)


def _add(violation: Violation, phase: BundlePhase, mistakes: Mistakes) -> None:
    lines = {"opens_at": phase.opens_line, "closes_at": phase.closes_line, "freeze_at": phase.freeze_line}
    line = lines[violation.field]
    mistakes.add(violation.code, violation.message, line=line, key=f"{phase.key}.{violation.field}")
