"""Prevents imports from ending phases, revealing scores or undoing edits on the server without the user's consent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evaluator.bundle import Bundle
from evaluator.bundle.mistakes import Mistakes
from evaluator.texts import counted
from server.audit.models import Entry
from server.challenges.models import Challenge, Phase, Team
from server.challenges.term_changes import Terms, consequences, date_text, delay_reveals, refusals, terms_of
from server.clock import database_now
from server.organize.services import baselines, truths
from server.organize.services.preparing import Prepared
from server.submissions.models import Submission

SHOWN_CHARACTERS = 80
ALLOW = "If this is intended, import the bundle with --reveal"


@dataclass(frozen=True, slots=True)
class Consent:
    """The changes that an import may make with the user's consent.

    `reveal` allows the import to end or remove phases and to show more scores. `force` allows it to undo edits that
    were made on the server.
    """

    reveal: bool = False
    force: bool = False


NO_CONSENT = Consent()


@dataclass(frozen=True, slots=True)
class Edit:
    """A field that was edited on the server since the last import. `row` is the database row with the edited value."""

    subject: str
    row: Challenge | Phase | Team
    name: str


@dataclass(frozen=True, slots=True)
class ChallengeState:
    """The state of a challenge before an import.

    `terms` maps the slug of each phase to its terms, such as its dates and who may read its scores. `edits` are the
    edits made on the server since the last import. `baselines` are the submissions of baselines that organizers added
    with forms.
    """

    terms: dict[str, Terms] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    baselines: list[Submission] = field(default_factory=list)


def read_state(slug: str) -> ChallengeState:
    """Read the current state of a challenge, and lock the challenge for the caller's transaction."""
    challenge = Challenge.objects.select_for_update(no_key=True).filter(slug=slug).first()
    if challenge is None:
        return ChallengeState()
    phases = list(Phase.objects.select_for_update(no_key=True, of=("self",)).filter(challenge=challenge))
    return ChallengeState(terms_of(challenge), list(edits(challenge, phases)), added_baselines(challenge))


def added_baselines(challenge: Challenge) -> list[Submission]:
    """Return the submissions of baselines that organizers added with forms and have not removed."""
    found = Submission.objects.filter(
        phase__challenge=challenge, team__is_baseline=True, team__disqualified_at=None
    ).select_related("phase", "team")
    subjects = {f"team {one.team_id}" for one in found}
    logged = Entry.objects.filter(action=baselines.ADDED, subject__in=subjects).values_list("detail", flat=True)
    added = {detail["submission"] for detail in logged}
    return [one for one in found if str(one.pk) in added]


def edits(challenge: Challenge, phases: list[Phase]) -> Iterator[Edit]:
    """Yield the fields of a challenge, its phases and its baselines that were edited since the last import.

    The audit log names these fields. They include the fields of rows that were added, and the field `signature` of each
    phase for which a rescoring was applied.
    """
    imports = Entry.objects.filter(action="challenge.imported", subject=f"challenge {challenge.slug}")
    last = imports.order_by("-number").values_list("number", flat=True).first() or 0
    later = Entry.objects.filter(number__gt=last)
    rows: list[tuple[str, Challenge | Phase | Team]] = [
        (f"challenge {challenge.slug}", challenge),
        *((f"phase {phase.slug}", phase) for phase in phases),
        *((f"baseline {team.name}", team) for team in challenge.teams.filter(is_baseline=True)),
    ]
    for subject, row in rows:
        kind = row._meta.model_name
        logged = later.filter(action__in=(f"{kind}.added", f"{kind}.changed"), subject=f"{kind} {row.pk}")
        names = {name for detail in logged.values_list("detail", flat=True) for name in detail.get("fields", ())}
        for name in sorted(names & {one.name for one in row._meta.concrete_fields}):
            yield Edit(subject, row, name)
    for phase in phases:
        if later.filter(action="rescoring.applied", subject=f"phase {phase}").exists():
            yield Edit(f"phase {phase.slug}", phase, "signature")


def check_consent(
    challenge: Challenge, before: ChallengeState, consent: Consent, mistakes: Mistakes, *, bundle: Bundle
) -> None:
    """Raise InvalidBundle if an import makes changes that are never allowed, or that the consent does not allow.

    Otherwise, if the import reveals private scores, delay the reveal; see `delay_reveals`. Call this function after the
    import has written its rows, in the same transaction.
    """
    declared = {(phase.slug, name) for phase in bundle.phases for name in baselines.names_of(phase)}
    now, after = database_now(), terms_of(challenge)
    for sentence in refusals(before.terms, after, now):
        mistakes.add("revealed", sentence)
    if not consent.reveal:
        for sentence in consequences(before.terms, after, now):
            mistakes.add("would_reveal", f"{sentence}. {ALLOW}")
    if not consent.force:
        for sentence in dict.fromkeys([*undone(before), *lost(before, declared)]):
            mistakes.add("would_undo_edit", f"{sentence}. Change the bundle, or import it with --force")
    mistakes.stop_if_any()
    delay_reveals(before.terms, challenge, now)


def check_images(slug: str, prepared: Mapping[str, Prepared], consent: Consent, mistakes: Mistakes) -> None:
    """Record an error in `mistakes` for each phase whose new ground truth would make private images public.

    Nothing is checked if the consent allows `reveal`. Phases that have not opened yet, or whose private scores are
    already shown, are not checked either. Call this function before the transaction begins, because comparing ground
    truths in a child process takes time.
    """
    phases = Phase.objects.select_related("challenge").filter(challenge__slug=slug, slug__in=prepared)
    now = database_now()
    for phase in phases if not consent.reveal else ():
        active, new = phase.truth, prepared[phase.slug]
        if active is None or active.sha256 == new.sha256 or not has_secrets(phase, now):
            continue
        try:
            count = truths.newly_public(active, new.compiled)
        except truths.Unrestorable as error:
            mistakes.add("would_reveal", f"{error}, so it is unknown what the new truth would reveal. {ALLOW}")
        else:
            if count:
                sentence = f"phase {phase.slug}: {counted(count, 'private image')} would become public"
                mistakes.add("would_reveal", f"{sentence}. {ALLOW}")


def has_secrets(phase: Phase, now: datetime) -> bool:
    """Return whether participants may have seen the public scores of a phase, but not its private scores."""
    return phase.has_opened(now) and not phase.shows_private(now)


def undone(before: ChallengeState) -> Iterator[str]:
    """Yield a sentence about each edit on the server that the import of a bundle would undo."""
    for edit in before.edits:
        row = type(edit.row)._default_manager.filter(pk=edit.row.pk).first()
        edited = getattr(edit.row, edit.name)
        if row is None:
            yield f"{edit.subject} was edited on the server; this import would remove it"
        elif getattr(row, edit.name) != edited:
            yield (
                f"{edit.subject}: {edit.name} was edited on the server; this import would change it "
                f"from {readable(edited)} to {readable(getattr(row, edit.name))}"
            )


def lost(before: ChallengeState, declared: set[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence about each baseline that was added with a form and that the import would remove.

    `declared` contains a pair (slug of the phase, name) for each baseline in the bundle. These baselines are not lost,
    because the import submits them again.
    """
    present = Submission.objects.filter(pk__in=[one.pk for one in before.baselines])
    # An import can make a baseline lose its submission in two ways: by deleting the submission, or by assigning it to
    # another baseline.
    kept = {*present.values_list("pk", "team")}
    for one in before.baselines:
        slug, name = one.phase.slug, one.team.name
        if (one.pk, one.team_id) not in kept and (slug, name.casefold()) not in declared:
            yield f"phase {slug}: baseline {name} was added on the server; this import would remove it"


def readable(value: Any) -> str:
    text = date_text(value) if isinstance(value, datetime) else "nothing" if value in (None, "") else str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
