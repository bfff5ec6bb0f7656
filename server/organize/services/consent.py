"""Refuses imports that end or remove a phase, reveal scores or undo edits made on the server, without consent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from server.audit.models import Entry
from server.challenges.models import Challenge, Phase
from server.challenges.term_changes import Terms, consequences, date_text, refusals, terms_of
from server.clock import database_now
from server.organize.services import truths
from server.organize.services.bundles.mistakes import Mistakes
from server.organize.services.preparing import Prepared

SHOWN_CHARACTERS = 80
ALLOW = "If this is intended, import it with --reveal"


@dataclass(frozen=True, slots=True)
class Consent:
    """Permissions: `reveal` to end or remove phases and show more scores, `force` to undo edits made on the server."""

    reveal: bool = False
    force: bool = False


NO_CONSENT = Consent()


@dataclass(frozen=True, slots=True)
class ChallengeState:
    """A challenge's state before an import: its terms, and the fields edited on the server since the last import."""

    terms: dict[str, Terms] = field(default_factory=dict)
    edited: dict[tuple[str, str], Any] = field(default_factory=dict)


def read_state(slug: str) -> ChallengeState:
    """Read the present state of a challenge and lock it for the caller's transaction."""
    challenge = Challenge.objects.select_for_update(no_key=True).filter(slug=slug).first()
    if challenge is None:
        return ChallengeState()
    phases = list(Phase.objects.select_for_update(no_key=True, of=("self",)).filter(challenge=challenge))
    return ChallengeState(terms_of(challenge), dict(edited_values(challenge, phases)))


def edited_values(challenge: Challenge, phases: list[Phase]) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield (subject, field) and value of each field that was edited since the last import, by the audit log."""
    imports = Entry.objects.filter(action="challenge.imported", subject=f"challenge {challenge.slug}")
    last = imports.order_by("-number").values_list("number", flat=True).first() or 0
    later = Entry.objects.filter(number__gt=last)
    rows: list[tuple[str, Challenge | Phase]] = [("challenge", challenge), *(("phase", phase) for phase in phases)]
    for kind, row in rows:
        edits = later.filter(action=f"{kind}.changed", subject=f"{kind} {row.pk}")
        names = {name for detail in edits.values_list("detail", flat=True) for name in detail.get("fields", ())}
        for name in sorted(names & {one.name for one in row._meta.concrete_fields}):
            yield (f"{kind} {row.slug}", name), getattr(row, name)
    for phase in phases:
        if later.filter(action="rescoring.applied", subject=f"phase {phase}").exists():
            yield (f"phase {phase.slug}", "signature"), phase.signature


def check_consent(challenge: Challenge, before: ChallengeState, consent: Consent, mistakes: Mistakes) -> None:
    """Raise an exception if an import does more than the consent allows. Call it before the import is committed."""
    now, after = database_now(), terms_of(challenge)
    for sentence in refusals(before.terms, after, now):
        mistakes.add("revealed", sentence)
    if not consent.reveal:
        for sentence in consequences(before.terms, after, now):
            mistakes.add("would_reveal", f"{sentence}. {ALLOW}")
    if not consent.force:
        for sentence in undone(challenge, before):
            mistakes.add("would_undo_edit", f"{sentence}. Change the bundle, or import it with --force")
    mistakes.stop_if_any()


def check_images(slug: str, prepared: Mapping[str, Prepared], consent: Consent, mistakes: Mistakes) -> None:
    """Describe the running phases whose new truth makes private images public.

    Call this before the transaction, because a child process compares the truths.
    """
    phases = Phase.objects.select_related("challenge").filter(challenge__slug=slug, slug__in=prepared)
    now = database_now()
    for phase in phases if not consent.reveal else ():
        active, new = phase.truth, prepared[phase.slug]
        if active is None or active.sha256 == new.sha256 or not phase.is_open(now):
            continue
        try:
            count = truths.newly_public(active, new.compiled)
        except truths.Unrestorable as error:
            mistakes.add("would_reveal", f"{error}, so it is not known what the new truth would reveal. {ALLOW}")
        else:
            if count:
                sentence = f"phase {phase.slug}: {count:,} private images would become public"
                mistakes.add("would_reveal", f"{sentence}. {ALLOW}")


def undone(challenge: Challenge, before: ChallengeState) -> Iterator[str]:
    """Describe each edit that the import would undo."""
    rows: dict[str, Challenge | Phase] = {
        f"challenge {challenge.slug}": Challenge.objects.get(pk=challenge.pk),
        **{f"phase {phase.slug}": phase for phase in Phase.objects.filter(challenge=challenge)},
    }
    for (subject, name), edited in before.edited.items():
        row = rows.get(subject)
        if row is None:
            yield f"{subject} was edited on the server and would be removed"
        elif getattr(row, name) != edited:
            yield (
                f"{subject}: {name} was edited on the server; it would change from {readable(edited)} "
                f"to {readable(getattr(row, name))}"
            )


def readable(value: Any) -> str:
    text = date_text(value) if isinstance(value, datetime) else "nothing" if value in (None, "") else str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
