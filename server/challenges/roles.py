"""Defines what the roles of organizers permit. Staff and the operator of the server have all rights."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.db import models

from server.errors import Refused


class Role(models.TextChoices):
    """An organizer's role in one challenge."""

    OWNER = "owner", "owner"
    EDITOR = "editor", "editor"
    VIEWER = "viewer", "viewer"


class Right(StrEnum):
    """A right of an organizer in a challenge. Each right includes the rights listed before it.

    READ permits viewing all organizer pages and all scores. EDIT permits editing the challenge, and acting on
    submissions, teams and ground truths. OWN permits changing the organizers, ending or deleting a phase, and revealing
    private scores.
    """

    READ = "read"
    EDIT = "edit"
    OWN = "own"


ROLES_WITH: Mapping[Right, tuple[Role, ...]] = {
    Right.READ: (Role.OWNER, Role.EDITOR, Role.VIEWER),
    Right.EDIT: (Role.OWNER, Role.EDITOR),
    Right.OWN: (Role.OWNER,),
}
MEANINGS: Mapping[Role, str] = {
    Role.OWNER: "can change the organizers, end phases and reveal scores, and can do everything that an editor can do",
    Role.EDITOR: "can edit the challenge, and manage submissions, teams and ground truths",
    Role.VIEWER: "can view all organizer pages and all scores, but cannot change anything",
}
REFUSALS: Mapping[Right, str] = {
    Right.READ: "Only organizers of the challenge can do this.",
    Right.EDIT: "Only owners and editors of the challenge can do this. You are a viewer.",
    Right.OWN: "Only owners of the challenge can do this. Ask one of them.",
}
ARCHIVED = "This challenge is archived, so nothing in it can be changed. One of its owners can unarchive it."


def refuse_without(right: Right, *, by: Any, challenge: Any, archived: bool = False) -> None:
    """Raise Refused if a user does not have the given right in a challenge. `by` is None for the operator.

    If the challenge is archived, rights other than READ are also refused, unless `archived` is true.
    """
    if by is not None and not challenge.is_organized_by(by, right):
        missing = right if challenge.is_organized_by(by) else Right.READ
        raise Refused("forbidden", REFUSALS[missing])
    if right is not Right.READ and not archived:
        refuse_archived(challenge)


def refuse_archived(challenge: Any) -> None:
    """Raise Refused if a challenge is archived."""
    if challenge.archived_at is not None:
        raise Refused("archived", ARCHIVED)
