"""Defines what each organizer role permits. Staff and the operator of the service may do everything."""

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
    """What a person may do in a challenge. Each right includes those listed before it."""

    READ = "read"  # view all organizer pages and all scores
    EDIT = "edit"  # edit the challenge, and act on submissions, teams and ground truths
    OWN = "own"  # change the organizers, end or delete a phase, and reveal private scores


ROLES_WITH: Mapping[Right, tuple[Role, ...]] = {
    Right.READ: (Role.OWNER, Role.EDITOR, Role.VIEWER),
    Right.EDIT: (Role.OWNER, Role.EDITOR),
    Right.OWN: (Role.OWNER,),
}
MEANINGS: Mapping[Role, str] = {
    Role.OWNER: "can change the organizers, end phases and reveal scores, and can do everything that an editor can do",
    Role.EDITOR: "can edit the challenge, and act on submissions, teams and ground truths",
    Role.VIEWER: "can view all organizer pages and all scores, but cannot change anything",
}
REFUSALS: Mapping[Right, str] = {
    Right.READ: "Only organizers of the challenge can do this.",
    Right.EDIT: "Only owners and editors of the challenge can do this. You are a viewer.",
    Right.OWN: "Only owners of the challenge can do this. Ask one of them.",
}
ARCHIVED = "This challenge is archived, so nothing in it can be changed. One of its owners can take the archive back."


def refuse_without(right: Right, *, by: Any, challenge: Any, archived: bool = False) -> None:
    """Raise Refused if a person does not have a right in a challenge. `by` is None for the operator.

    In an archived challenge nobody has a right to change something, unless `archived` is true.
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
