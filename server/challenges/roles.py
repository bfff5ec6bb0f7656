"""What each role of an organizer allows. Staff and the operator of the service may do everything."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.db import models

from server.errors import Refused


class Role(models.TextChoices):
    """The role of an organizer in one challenge."""

    OWNER = "owner", "owner"
    EDITOR = "editor", "editor"
    VIEWER = "viewer", "viewer"


class Right(StrEnum):
    """What a person may do in a challenge. Each right includes the ones before it."""

    READ = "read"  # read every page for organizers, and all scores
    EDIT = "edit"  # edit the challenge, and act on submissions, teams and ground truths
    OWN = "own"  # change the organizers, end or delete a phase, and reveal private scores


ROLES_WITH: Mapping[Right, tuple[Role, ...]] = {
    Right.READ: (Role.OWNER, Role.EDITOR, Role.VIEWER),
    Right.EDIT: (Role.OWNER, Role.EDITOR),
    Right.OWN: (Role.OWNER,),
}
MEANINGS: Mapping[Role, str] = {
    Role.OWNER: "changes the organizers, ends phases and reveals scores, and may do everything that an editor may do",
    Role.EDITOR: "edits the challenge, and acts on submissions, teams and ground truths",
    Role.VIEWER: "reads every page for organizers and all scores, and changes nothing",
}
REFUSALS: Mapping[Right, str] = {
    Right.READ: "Only organizers of the challenge can do this.",
    Right.EDIT: "Only owners and editors of the challenge can do this. You are a viewer.",
    Right.OWN: "Only owners of the challenge can do this. Ask one of them.",
}


def refuse_without(right: Right, *, by: Any, challenge: Any) -> None:
    """Raise Refused if a person does not have a right in a challenge. `by` is None for the operator."""
    if by is None or challenge.is_organized_by(by, right):
        return
    missing = right if challenge.is_organized_by(by) else Right.READ
    raise Refused("forbidden", REFUSALS[missing])
