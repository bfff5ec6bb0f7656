"""Imports bundles (zip files with a challenge) that organizers upload.

Owners and editors may create challenges and change their own challenges.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Exists, Q, QuerySet

from evaluator.bundle import InvalidBundle
from evaluator.problems import Problem
from server.accounts.models import User
from server.challenges.models import Challenge, Organizer
from server.challenges.roles import ROLES_WITH, Right
from server.compiled_queries import compiled_query
from server.errors import Refused
from server.organize.services.consent import NO_CONSENT, Consent
from server.organize.services.importing import import_bundle


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported challenge, with the messages and warnings of the import.

    `messages` has one sentence for each change, followed by notes, for example about the checks of ground truths.
    """

    challenge: Challenge
    messages: list[str]
    warnings: list[Problem]


def may_import(user: Any) -> bool:
    """Return whether a user may import bundles (challenges as zip files).

    Staff, owners, editors, and users with the permission to add challenges may do so.
    """
    return user.is_authenticated and (user.is_staff or bool(importers(user=user.pk)))


@compiled_query
def importers(*, user: int) -> QuerySet[User, tuple[int]]:
    """Select the user's primary key if the user may import bundles, otherwise select nothing.

    Owners and editors of any challenge and users with the permission to add challenges may import bundles. `may_import`
    also allows staff.
    """
    add = Permission.objects.filter(content_type__app_label="challenges", codename="add_challenge").order_by()
    granted = Exists(add.filter(user=user)) | Exists(add.filter(group__user=user)) | Q(is_superuser=True)
    organizes = Exists(Organizer.objects.filter(user=user, role__in=ROLES_WITH[Right.EDIT]))
    return User.objects.filter(organizes | (granted & Q(is_active=True)), pk=user).values_list("pk")


def require_may_import(user: Any) -> None:
    """Raise Refused if a user may not import bundles."""
    if not may_import(user):
        raise Refused(
            "forbidden",
            "Only staff, and people who own or edit a challenge, can import challenges. Ask the staff for permission.",
        )


def import_upload(*, path: Path, name: str, by: User, strict: bool = False, consent: Consent = NO_CONSENT) -> Imported:
    """Import an uploaded zip file. The user becomes an organizer of the challenge.

    `name` is the file's name on the user's computer. Raises InvalidBundle with all errors in the bundle, and Refused if
    the user may not import bundles.
    """
    require_may_import(by)
    messages: list[str] = []
    warnings: list[Problem] = []
    try:
        challenge = import_bundle(
            path=path,
            by=by,
            report=messages.append,
            warn=warnings.append,
            strict=strict,
            consent=consent,
            own_only=True,
        )
    except InvalidBundle as error:
        raise InvalidBundle(named(error.problems, path, name), named(error.warnings, path, name)) from error
    return Imported(challenge, messages, warnings)


def named(problems: Iterable[Problem], path: Path, name: str) -> list[Problem]:
    """Return copies of problems that contain the name of the user's file instead of the name of its temporary copy."""
    return [replace(each, file=name) if each.file == path.name else each for each in problems]
