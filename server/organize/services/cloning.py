"""Copies a challenge with its phases, for example for the next year, by exporting it and importing it again."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge
from server.challenges.roles import Right, refuse_without
from server.errors import Refused
from server.organize.services.bundle_uploads import Imported, import_upload, require_may_import
from server.organize.services.exporting import exported_phases, sheet_values, write_bundle

DATES = ("opens_at", "closes_at", "join_until")
DATES_OF_PHASE = ("opens_at", "closes_at", "freeze_at")


def clone_challenge(*, challenge: Challenge, by: User, slug: str, title: str) -> Imported:
    """Copy a challenge as a draft: its pages, settings and phases with their ground truths, splits and samples.

    Dates, teams, submissions, baselines and organizers are not copied. The user `by` becomes the owner. Raises
    InvalidBundle if the copy would not be a valid challenge.
    """
    refuse_without(Right.EDIT, by=by, challenge=challenge, archived=True)
    require_may_import(by)
    if Challenge.objects.filter(slug=slug).exists():
        raise Refused(
            "invalid", f"Short name: {slug} is already the short name of another challenge. Choose another one."
        )
    phases = [replace(one, baselines={}) for one in exported_phases(challenge)]
    if not phases:
        raise Refused("invalid", "This challenge has no phase, so there is nothing to copy. Create a new one instead.")
    named = {"slug": slug, "title": title, "visibility": Challenge.Visibility.DRAFT.value}
    values = {**undated(sheet_values(challenge, phases)), **named}
    with TemporaryDirectory(prefix="clone-", dir=settings.FILE_UPLOAD_TEMP_DIR) as workspace:
        path = Path(workspace) / "bundle.zip"
        with path.open("wb") as target:
            write_bundle(target, challenge, phases, values)
        made = import_upload(path=path, name=path.name, by=by)
    detail = {"of": challenge.slug}
    audit.record(actor=by, action="challenge.cloned", subject=f"challenge {made.challenge.pk}", detail=detail)
    return made


def undated(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an exported challenge without the dates of the challenge and its phases."""
    phases = [without(one, DATES_OF_PHASE) for one in values["phases"]]
    teams = without(values["teams"], ("merge_until",))
    return {**without(values, DATES), "teams": teams, "phases": phases}


def without(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
