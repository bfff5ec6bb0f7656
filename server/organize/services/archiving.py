"""Archives challenges: everything in them can still be read, but nothing can be changed. Archiving can be undone."""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge
from server.challenges.roles import Right
from server.challenges.services import lock_organized
from server.clock import database_now
from server.errors import Refused
from server.organize.services.results import unfinished_work


@transaction.atomic
def archive(*, challenge: Challenge, by: User, name: str) -> Challenge:
    """Archive a challenge whose results are final. As confirmation, `name` must be the challenge's short name."""
    locked = lock_organized(challenge.pk, by=by, right=Right.OWN)
    if name.strip() != locked.slug:
        raise Refused("invalid", f"To archive the challenge, type its short name: {locked.slug}.")
    if locked.visibility == Challenge.Visibility.DRAFT:
        raise Refused("change_refused", "This challenge is a draft, and drafts cannot be archived.")
    now = database_now()
    unfinished = [
        f"phase {phase.slug}: {text}" for phase in locked.phases.all() for text in unfinished_work(phase, now)
    ]
    if unfinished:
        sentence = f"The challenge cannot be archived until its results are final: {'; '.join(unfinished)}."
        raise Refused("change_refused", sentence)
    return store(locked, by, is_archived=True)


@transaction.atomic
def take_back(*, challenge: Challenge, by: User) -> Challenge:
    """Make an archived challenge editable again. Its dates then determine its state, as before it was archived."""
    locked = lock_organized(challenge.pk, by=by, right=Right.OWN, archived=True)
    return locked if locked.archived_at is None else store(locked, by, is_archived=False)


def store(challenge: Challenge, by: User, *, is_archived: bool) -> Challenge:
    challenge.archived_at = database_now() if is_archived else None
    challenge.save(update_fields=["archived_at"])
    action = "challenge.archived" if is_archived else "challenge.unarchived"
    audit.record(actor=by, action=action, subject=f"challenge {challenge.slug}")
    return challenge
