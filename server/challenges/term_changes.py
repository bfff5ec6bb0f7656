"""Detects changes to a challenge that are not allowed, and changes that must be confirmed.

A change must be confirmed if it ends a phase or reveals scores. Imports and forms follow the same rules.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf

from evaluator.dates import iso_utc
from server.challenges.models import Challenge, Phase

# A change that reveals private scores takes effect after 10 minutes. Until then, it can be undone.
REVEAL_DELAY = timedelta(minutes=10)
# Ending a phase earlier than announced must be confirmed if the new end is within the next 24 hours.
NOTICE_HOURS = 24


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a phase: when it accepts submissions, who may read its scores, and with how many decimals.

    `closing` is the end of the phase or, if it is later, the end of the last extension for a team. `in_use` is true if
    somebody has joined the challenge or submitted to the phase.
    """

    opening: datetime
    closing: datetime | None
    visibility: str
    reveal: str
    reveals_at: datetime | None
    shown_from: datetime | None
    revealed_at: datetime | None
    ladder_margin: float | None
    decimals: int | None
    classes: bool
    freeze_at: datetime | None
    finals: int
    in_use: bool

    @classmethod
    def of(cls, phase: Phase, *, in_use: bool = True) -> "Terms":
        return cls(
            phase.opening,
            phase.ending,
            phase.challenge.visibility,
            phase.reveal,
            phase.reveals_at,
            phase.shown_from,
            phase.revealed_at,
            phase.ladder_standard_errors if phase.is_ladder else None,
            phase.feedback_decimals,
            phase.feedback_classes,
            phase.freeze_at,
            phase.finals,
            in_use,
        )

    def is_over(self, now: datetime) -> bool:
        return self.closing is not None and self.closing <= now

    def shows_private(self, now: datetime) -> bool:
        return self.shown_from is not None and self.shown_from <= now

    def is_running(self, now: datetime) -> bool:
        return self.opening <= now and not self.is_over(now)


def terms_of(challenge: Challenge) -> dict[str, Terms]:
    """Return the stored terms (such as dates and feedback) of every phase of a challenge, keyed by slug."""
    phases = Phase.objects.select_related("challenge").filter(challenge=challenge.pk)
    joined = challenge.memberships.exists()
    submitted = set(phases.filter(submissions__isnull=False).values_list("pk", flat=True))
    return {phase.slug: Terms.of(phase, in_use=joined or phase.pk in submitted) for phase in phases}


def consequences(before: Mapping[str, Terms], after: Mapping[str, Terms], now: datetime) -> Iterator[str]:
    """Yield a sentence for each consequence of a change that must be confirmed.

    A change must be confirmed if it removes a phase, stops submissions early, ranks the teams of a phase again, shows
    more information about scores, or shows scores to more people. `before` and `after` contain the terms of every phase
    before and after the change.
    """
    for slug, old in sorted(before.items()):
        if slug in after:
            yield from (f"phase {slug} would {what}" for what in changes(old, after[slug], now))
        elif old.in_use or old.is_running(now):
            yield f"phase {slug} would be removed with its baselines, scores and salt"
    visibilities = [{terms.visibility for terms in some.values()} for some in (before, after)]
    private = {Challenge.Visibility.PRIVATE.value}
    if visibilities[0] == private and (wider := visibilities[1] - private - {Challenge.Visibility.DRAFT.value}):
        yield f"the challenge and its scores would be visible to more people: {wider.pop()} instead of private"


def changes(old: Terms, new: Terms, now: datetime) -> Iterator[str]:
    """Yield a phrase for each change to a phase's terms that must be confirmed, such as an earlier end of the phase."""
    if not old.is_over(now):
        yield from changed_dates(old, new, now)
    elif new.is_over(now) and old.finals != new.finals:
        yield f"rank its teams again, by {new.finals} instead of {old.finals} final submissions per team"
    if old.reveal != new.reveal and new.reveal == Phase.AT_CLOSE and not old.shows_private(now):
        when = "10 minutes after this change" if new.is_over(now) else "when it closes, without a further confirmation"
        yield f"show its private scores to everyone {when}"
    if old.opening <= now and (more := list(loosened(old, new, now))):
        yield f"show participants more than before: {', '.join(more)}"


def changed_dates(old: Terms, new: Terms, now: datetime) -> Iterator[str]:
    """Yield a phrase if a changed date stops submissions immediately or earlier than announced."""
    shown = {Phase.AT_CLOSE: ", and everyone could read its private scores 10 minutes later"}.get(new.reveal, "")
    then = {Phase.AT_CLOSE: ", and then everyone could read its private scores"}.get(new.reveal, "")
    closing = f"it would close at {date_text(new.closing)} instead of {date_text(old.closing)}"
    if new.is_over(now):
        yield f"end immediately{shown}: {closing}"
    elif new.closing and is_earlier(new.closing, old.closing) and new.closing - now < timedelta(hours=NOTICE_HOURS):
        yield f"end within {NOTICE_HOURS} hours, earlier than announced{then}: {closing}"
    elif old.opening <= now < new.opening:
        opening = f"it would open at {date_text(new.opening)} instead of {date_text(old.opening)}"
        yield f"stop accepting submissions: {opening}"


def is_earlier(one: datetime, other: datetime | None) -> bool:
    return other is None or one < other


def loosened(old: Terms, new: Terms, now: datetime) -> Iterator[str]:
    """Yield a phrase for each kind of score information that participants can see after a change but not before it.

    Ladder feedback hides scores that are not a clear improvement, but only until the private scores are shown.
    Turning it off after that time reveals nothing, so no phrase is yielded.
    """
    is_shown = old.shows_private(now)
    if is_shown:
        pass
    elif old.ladder_margin is not None and new.ladder_margin is None:
        yield "every score instead of clear improvements only"
    elif old.ladder_margin is not None and new.ladder_margin is not None and new.ladder_margin < old.ladder_margin:
        yield f"improvements of more than {new.ladder_margin:g} instead of {old.ladder_margin:g} standard errors"
    if digits(new) > digits(old):
        precision = "with all decimals" if new.decimals is None else f"with {new.decimals} decimals"
        yield f"scores {precision} instead of {old.decimals}"
    if new.classes and not old.classes:
        yield "results per class"
    if old.freeze_at and old.freeze_at <= now and not is_shown and is_earlier(old.freeze_at, new.freeze_at):
        yield "leaderboard entries from after the time of the freeze"


def digits(terms: Terms) -> float:
    return inf if terms.decimals is None else terms.decimals


def refusals(before: Mapping[str, Terms], after: Mapping[str, Terms], now: datetime) -> Iterator[str]:
    """Yield a sentence for each change that is not allowed.

    Once the private scores of a phase have been shown to participants, the phase cannot be reopened, and the scores
    cannot be hidden again.
    """
    for slug in sorted(before.keys() & after.keys()):
        old, new = before[slug], after[slug]
        if old.is_over(now) and not new.is_over(now) and old.revealed_at is not None:
            yield (
                f"phase {slug} closed at {date_text(old.closing)} and its private scores have been readable since "
                f"{date_text(old.revealed_at)}; it cannot be reopened. Open a new phase instead"
            )
        elif old.revealed_at is not None and new.shown_from is None:
            yield (
                f"the private scores of phase {slug} have been readable since {date_text(old.revealed_at)}; they "
                "cannot be withheld again"
            )


def delay_reveals(before: Mapping[str, Terms], challenge: Challenge, now: datetime) -> None:
    """Delay the reveal if a change would reveal private scores, so that the change can still be undone.

    The delay is `REVEAL_DELAY`. `before` contains the terms of the phases before the change. Call this function after
    saving the change.
    """
    for phase in Phase.objects.select_related("challenge").filter(challenge=challenge.pk, slug__in=before):
        at = delayed(before[phase.slug], Terms.of(phase), now)
        if at != phase.reveals_at:
            Phase.objects.filter(pk=phase.pk).update(reveals_at=at)


def delayed(old: Terms, new: Terms, now: datetime) -> datetime | None:
    """Return the new value of a phase's field `reveals_at`, given the phase's terms before and after a change."""
    if new.reveals_at is not None and (new.closing is None or new.closing > new.reveals_at):
        # The phase was extended beyond the planned reveal, so its private scores must stay hidden until its new end.
        return None
    if new.shown_from is None or old.shows_private(now) or not is_earlier(new.shown_from, old.shown_from):
        return new.reveals_at
    return now + REVEAL_DELAY if new.shown_from < now + REVEAL_DELAY else new.reveals_at


def date_text(at: datetime | None) -> str:
    return iso_utc(at.astimezone(UTC)) if at else "no date"
