"""Imports a bundle (a folder or zip file) as a challenge.

First, the ground truths are prepared. Then all rows are written in one transaction. Finally, baselines are submitted.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import transaction

from evaluator.bundle import Bundle, BundlePhase, Mistakes
from evaluator.bundle.checking import check_files
from evaluator.bundle.dates import report_opening
from evaluator.bundle.mistakes import ignore
from evaluator.bundle.salts import report_salts
from evaluator.problems import Problem
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.feedback_leakage import PER_CLASS
from server.challenges.models import Challenge, Phase
from server.challenges.roles import ARCHIVED, Right, refuse_without
from server.challenges.services import JOINED, competing, has_joined
from server.clock import database_now
from server.organize import podium
from server.organize.services import baselines, bundles, salts
from server.organize.services.consent import NO_CONSENT, Consent, check_consent, check_images, read_state
from server.organize.services.new_files import NewFiles
from server.organize.services.phases import assign, has_entries, remove, with_stored_splits, write_phase
from server.organize.services.preparing import Prepared, prepare_and_test
from server.organize.services.publishing import cancel_publication

FIELDS = (
    "title",
    "summary",
    "description",
    "rules",
    "data",
    "visibility",
    "closes_at",
    "join_until",
    "registration",
    "allowed_domains",
    "allowed_people",
    "team_max_size",
    "merge_until",
    "contact",
)


def import_bundle(
    *,
    path: Path,
    by: User | None,
    report: Callable[[str], None] = ignore,
    warn: Callable[[Problem], None] = ignore,
    strict: bool = False,
    consent: Consent = NO_CONSENT,
    own_only: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Challenge:
    """Create or change the challenge of a bundle (a folder or zip file). Importing it again changes nothing.

    `by` becomes an organizer; the caller must check that this is allowed. `report` is called with one sentence for each
    change, and `warn` with each warning. With `strict`, warnings are treated as errors. `consent` allows changes that
    are refused otherwise. With `own_only`, only editors and owners of an existing challenge can change it, and only
    owners can consent to `reveal` (ending phases or showing more scores). `progress` is called with the result of each
    gate check (a test that a ground truth must pass).

    Raises InvalidBundle with all errors, in which case nothing is changed. Raises Refused if a baseline could not be
    submitted, for example because the disk is full. In this case, the challenge has been imported, and importing the
    bundle again submits the baseline.
    """
    with (
        bundles.opened(path) as folder,
        TemporaryDirectory(prefix="import-", dir=settings.FILE_UPLOAD_TEMP_DIR) as workspace,
    ):
        mistakes = Mistakes(strict=strict)
        read = bundles.read_with_mistakes(folder, mistakes)
        if own_only:
            refuse_foreign(read.slug, by, consent)
        known = {phase.slug: phase for phase in Phase.objects.filter(challenge__slug=read.slug)}
        bundle = with_stored_splits(salts.salted(read, mistakes), known)
        report_salts(bundle, mistakes)

        def tested(phase: BundlePhase) -> Prepared:
            said = progress and (lambda text: progress(f"phase {phase.slug}: gate: {text.strip()}"))
            return prepare_and_test(phase, Path(workspace), phase=known.get(phase.slug), progress=said)

        prepared = check_files(bundle.phases, tested, podium.answer, mistakes)
        mistakes.stop_if_any()
        check_images(bundle.slug, prepared, consent, mistakes)
        with transaction.atomic(), NewFiles() as files:
            before = read_state(bundle.slug)
            if own_only:
                # The permission is checked again, because another import may have created the challenge since the
                # first check.
                refuse_foreign(bundle.slug, by, consent)
            challenge, changes, notes = write(bundle, prepared, mistakes, files=files, by=by, edited=bool(before.edits))
            check_consent(challenge, before, consent, mistakes, bundle=bundle)
        for warning in mistakes.warnings:
            warn(warning)
        try:
            for sentence in baselines.submit_all(challenge, bundle):
                changes.append(sentence)
        finally:
            # Changes are reported even if submitting a baseline fails, because the challenge has already been imported.
            for sentence in (changes or ["nothing changed"]) + notes:
                report(sentence)
    return challenge


def refuse_foreign(slug: str, by: User | None, consent: Consent) -> None:
    """Raise an exception if a user may not change the existing challenge with this slug.

    Raises InvalidBundle if the user does not organize the challenge, and Refused if the user's role does not allow the
    import. No other errors are reported, because they could reveal details of the challenge.
    """
    found = Challenge.objects.filter(slug=slug).first()
    if found is None:
        return
    if found.is_organized_by(by or AnonymousUser()):
        refuse_without(Right.OWN if consent.reveal else Right.EDIT, by=by, challenge=found)
    else:
        taken = Mistakes()
        taken.add("slug_taken", f"another challenge has the slug {slug!r}; choose another slug", line=1, key="slug")
        raise taken.error()


def write(
    bundle: Bundle,
    prepared: dict[str, Prepared],
    mistakes: Mistakes,
    *,
    files: NewFiles,
    by: User | None,
    edited: bool = False,
) -> tuple[Challenge, list[str], list[str]]:
    """Write the database rows of the bundle's challenge, in the caller's transaction.

    `edited` states whether the challenge was edited on the server since the last import. Return the challenge, messages
    about changes, and other notes.
    """
    challenge, changes = write_challenge(bundle, mistakes, by)
    known = {phase.slug: phase for phase in challenge.phases.select_for_update(no_key=True)}
    for position, declared in enumerate(bundle.phases):
        phase = known.pop(declared.slug, None) or Phase(challenge=challenge, slug=declared.slug)
        ready = prepared[declared.slug]
        changes += write_phase(phase, declared, position=position, prepared=ready, files=files, mistakes=mistakes)
    changes += baselines.write_teams(challenge, bundle, mistakes)
    if by is not None:
        for member in competing(challenge, [by]):
            message = (
                f"{member} of this challenge, so {by} cannot become its organizer; choose an account without a team"
            )
            mistakes.add("organizer_competes", message)
    mistakes.stop_if_any()
    kept = [phase for phase in known.values() if has_entries(phase)]
    changes += [remove(phase) for phase in known.values() if phase not in kept]
    detail: dict[str, Any] = {"changes": [*changes]}
    if by is not None and not challenge.organizers.contains(by):
        challenge.organizers.add(by)
        changes.append(f"{by} is now an organizer of the challenge")
        detail["organizer"] = by.pk  # The audit log must not contain people's names.
    # An import without changes is recorded as well if it agrees with edits on the server, because later imports may
    # change the values of such edits again.
    if changes or edited:
        audit.record(actor=by, action="challenge.imported", subject=f"challenge {challenge.slug}", detail=detail)
    notes = [
        f"phase {phase.slug}: kept, although it is missing from the bundle, because teams have submitted to it"
        for phase in kept
    ]
    notes += baselines.left_over(challenge, bundle)
    notes += [f"phase {slug}: {one.ceiling_text}" for slug, one in prepared.items() if one.ceiling and changes]
    notes += [f"phase {slug}: {one.gate_text}" for slug, one in prepared.items() if one.gate_text]
    notes += [f"phase {phase.slug}: {PER_CLASS}" for phase in bundle.phases if phase.feedback_classes]
    return challenge, changes, notes


def write_challenge(bundle: Bundle, mistakes: Mistakes, by: User | None) -> tuple[Challenge, list[str]]:
    found = Challenge.objects.select_for_update(no_key=True).filter(slug=bundle.slug).first()
    challenge = found or Challenge(slug=bundle.slug, opens_at=database_now())
    if challenge.archived_at is not None:
        mistakes.add("archived", ARCHIVED, line=1, key="slug")
    fields = {name: getattr(bundle, name) for name in FIELDS}
    names = assign(challenge, {**fields, "opens_at": bundle.opens_at or challenge.opens_at})
    # The stored date is passed, because a new challenge without `opens_at` opens at the time of the import.
    report_opening(bundle, challenge.opens_at, mistakes)
    if found is not None and "visibility" in names:
        follow_visibility(challenge, mistakes, by)
    mistakes.stop_if_any()
    if found is None or names:
        challenge.save()
    if found is None:
        return challenge, [f"challenge {challenge.slug}: created"]
    return challenge, [f"challenge {challenge.slug}: {', '.join(names)} changed"] if names else []


def follow_visibility(challenge: Challenge, mistakes: Mistakes, by: User | None) -> None:
    """Cancel the scheduled publication of a challenge whose visibility changes.

    Report an error if the challenge would become a draft although somebody has joined it.
    """
    if challenge.visibility == Challenge.Visibility.DRAFT and has_joined(challenge):
        mistakes.add("change_refused", JOINED, key="visibility")
    cancel_publication(challenge, by)
