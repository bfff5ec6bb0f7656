"""Changes of a challenge that end a phase or reveal scores, and those that are refused because scores were revealed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from server.challenges.models import Challenge, Phase
from server.challenges.terms import stamp


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides when a phase takes files and who reads its scores."""

    opening: datetime
    closing: datetime | None
    visibility: str
    revealed_at: datetime | None

    @classmethod
    def of(cls, phase: Phase) -> "Terms":
        return cls(phase.opening, phase.closing, phase.challenge.visibility, phase.revealed_at)

    def is_over(self, now: datetime) -> bool:
        return self.closing is not None and self.closing <= now


def terms_of(challenge: Challenge) -> dict[str, Terms]:
    """Return the terms of every phase, as the database has them."""
    phases = Phase.objects.select_related("challenge").filter(challenge=challenge.pk)
    return {phase.slug: Terms.of(phase) for phase in phases}


def consequences(before: Mapping[str, Terms], after: Mapping[str, Terms], now: datetime) -> Iterator[str]:
    """Describe what would end a phase or show more people its scores, and so needs a confirmation."""
    for slug in sorted(before.keys() & after.keys()):
        old, new = before[slug], after[slug]
        if new.is_over(now) and not old.is_over(now):
            yield (
                f"phase {slug} would end at once and everybody could read its private scores: "
                f"it would close at {moment(new.closing)} instead of {moment(old.closing)}"
            )
        elif old.opening <= now < new.opening and not old.is_over(now):
            yield (
                f"phase {slug} would stop taking submissions: "
                f"it would open at {moment(new.opening)} instead of {moment(old.opening)}"
            )
    visibilities = [{terms.visibility for terms in some.values()} for some in (before, after)]
    private = {Challenge.Visibility.PRIVATE.value}
    if visibilities[0] == private and visibilities[1] - private:
        yield f"the challenge and its scores would be visible to others: {visibilities[1].pop()} instead of private"


def refusals(before: Mapping[str, Terms], after: Mapping[str, Terms], now: datetime) -> Iterator[str]:
    """Describe what cannot be done: to reopen a phase whose private scores others have been able to read."""
    for slug in sorted(before.keys() & after.keys()):
        old, new = before[slug], after[slug]
        if old.is_over(now) and not new.is_over(now) and old.revealed_at is not None:
            yield (
                f"phase {slug} closed at {moment(old.closing)} and others have read its private scores since "
                f"{moment(old.revealed_at)}; it cannot be reopened. Open a new phase instead"
            )


def moment(at: datetime | None) -> str:
    return stamp(at.astimezone(UTC)) if at else "no date"
