"""The dates of a phase beside those of its challenge: when it takes files, and that it ever does."""

from datetime import datetime

from server.organize.services.bundles.declared import BundlePhase
from server.organize.services.bundles.mistakes import Mistakes


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def check_dates(
    phase: BundlePhase, *, opens_at: datetime | None, closes_at: datetime | None, mistakes: Mistakes
) -> None:
    """Note where the dates of a phase contradict the ones that its challenge declares."""
    if not check_order(phase, opens_at=opens_at, closes_at=closes_at, mistakes=mistakes):
        return
    if phase.opens_at and opens_at and phase.opens_at < opens_at:
        _add(mistakes, f"opens_at: is before the challenge opens, {stamp(opens_at)}", line=phase.opens_line)
    if phase.closes_at and closes_at and phase.closes_at > closes_at:
        _add(mistakes, f"closes_at: is after the challenge closes, {stamp(closes_at)}", line=phase.closes_line)


def check_order(
    phase: BundlePhase, *, opens_at: datetime | None, closes_at: datetime | None, mistakes: Mistakes
) -> bool:
    """Tell whether the phase is ever open. One that is closed from the start would show its private scores at once."""
    if not (phase.opens_at or phase.closes_at):
        return True  # as long as its challenge, whose own dates are checked
    opening = max(filter(None, (phase.opens_at, opens_at)), default=None)
    closing = min(filter(None, (phase.closes_at, closes_at)), default=None)
    if not (opening and closing) or opening < closing:
        return True
    if phase.closes_at == closing:
        _add(mistakes, f"closes_at: is not after the opening, {stamp(opening)}", line=phase.closes_line)
    else:
        _add(mistakes, f"opens_at: is not before the closing, {stamp(closing)}", line=phase.opens_line)
    return False


def _add(mistakes: Mistakes, message: str, *, line: int) -> None:
    mistakes.add("bad_dates", message, line=line)
