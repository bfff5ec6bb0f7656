"""Blocks accounts from joining a challenge. `services.refuse_blocked` enforces the blocks."""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Block, Challenge
from server.challenges.roles import Right
from server.challenges.services import lock_organized, reason_line
from server.clock import database_now
from server.errors import Refused

NOT_BLOCKED = "This person is no longer blocked."


@transaction.atomic
def block(*, challenge: Challenge, by: User | None, username: str, reason: str) -> Block:
    """Block an account from joining a challenge. A person who is already in a team stays in it.

    `by` is None for the operator.
    """
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    user = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if user is None:
        raise Refused("invalid", "username: there is no account with this name.")
    if locked.has_organizer(user):
        raise Refused(
            "invalid", f"username: {user} is staff or an organizer of this challenge, so they cannot join it anyway."
        )
    if Block.objects.filter(challenge=locked, user=user).exists():
        raise Refused("invalid", f"username: {user} is already blocked.")
    found = Block.objects.create(challenge=locked, user=user, reason=reason_line(reason), blocked_at=database_now())
    record(found, by, action="person.blocked")
    return found


@transaction.atomic
def unblock(*, block: Block, by: User | None) -> Block:
    """Allow a blocked account to join the challenge again."""
    lock_organized(block.challenge_id, by=by, right=Right.EDIT)
    found = Block.objects.select_related("challenge", "user").filter(pk=block.pk).first()
    if found is None:
        raise Refused("not_found", NOT_BLOCKED)
    Block.objects.filter(pk=found.pk).delete()
    record(found, by, action="person.unblocked")
    return found


def record(found: Block, by: User | None, *, action: str) -> None:
    detail = {"user": found.user_id, "reason": found.reason}
    audit.record(actor=by, action=action, subject=f"challenge {found.challenge.slug}", detail=detail)
