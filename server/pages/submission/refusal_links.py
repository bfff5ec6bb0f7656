"""Links on the submit page that help users whose file was not accepted, for example to the quota history."""

from typing import Any
from uuid import UUID

from django.urls import reverse

from evaluator.report_page.score_digits import score_digits
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext
from server.pages.formatting.units import date
from server.submissions.feedback import scores_in
from server.submissions.reading import read_submission

# The text and the URL of a link to a page that explains a refusal
Link = tuple[str, str]


def refusal_link(refusal: Refused | None, current: ChallengeContext, *, user: Any) -> Link | None:
    """Return a link to a page that explains why a file was not accepted, or None if there is no such page."""
    if refusal is None:
        return None
    if refusal.code == "duplicate_file":
        return earlier_submission(UUID(refusal.extra["submission"]), user)
    pages = {
        "quota_exhausted": ("Quota history", f"{current.url('team')}#statement"),
        "storage_exhausted": ("Your team's files", current.url("submissions")),
        "file_too_large": ("File limits", f"{current.url('challenge_data')}#limits"),
        "phase_closed": ("Leaderboard", current.url("leaderboard")),
        "rules_not_accepted": ("Rules", current.url("challenge_rules")),
    }
    return pages.get(refusal.code)


def earlier_submission(pk: UUID, user: Any) -> Link | None:
    """Return a link to the team's earlier submission of the same file, or None if the user may not see it.

    The text of the link contains a date, and the public score or the status of the submission.
    """
    read = read_submission(user, pk)
    if read is None:
        return None
    one, scores = read.submission, scores_in(read.submission, read.access).get("public", {})
    value = scores.get(one.phase.declared_track.headline)
    text = f"This file was submitted on {date(one.received_at)}: {one.status}"
    if value is not None and one.finished_at is not None:
        digits = score_digits(value, decimals=read.access.decimals)
        text = f"This file was scored on {date(one.finished_at)}: {digits.supported}{digits.unsupported}"
    return text, reverse("submission", args=[pk])
