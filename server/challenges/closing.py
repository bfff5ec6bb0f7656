"""Computes a team's submission deadline for a phase, including an extension for this team alone."""

from datetime import datetime

from server.challenges.models import Extension, Phase, Team
from server.clock import is_over


def closing_for(team: Team | None, phase: Phase) -> datetime | None:
    """Return a team's submission deadline for a phase, or None if the phase has no end.

    It is the end of the phase or, if the team has a later extension, the end of the extension. Without a team, return
    the end of the phase. The database is queried only if some team's extension ends after the phase.
    """
    if team is None or phase.ending == phase.closing:
        return phase.closing
    extended = Extension.objects.filter(team=team, phase=phase).values_list("until", flat=True).first()
    return phase.closing and max(phase.closing, extended or phase.closing)


def has_closed_for(team: Team | None, phase: Phase, now: datetime) -> bool:
    """Return whether a team can no longer submit files or choose final submissions in a phase."""
    return is_over(closing_for(team, phase), now)
