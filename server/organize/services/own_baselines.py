"""Baselines that organizers add and remove with forms. They are scored and listed like the baselines in a bundle."""

from typing import TYPE_CHECKING

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge, Phase, Team
from server.challenges.roles import Right
from server.challenges.services import chosen_name, lock_organized_phase, taken_names
from server.errors import Refused
from server.organize.services import baselines, submission_table
from server.submissions.models import Submission
from server.submissions.services import intake

if TYPE_CHECKING:
    from django.core.files import File


@transaction.atomic
def add(*, phase: Phase, by: User | None, name: str, file: "File[bytes]") -> Submission:
    """Submit a file for the baseline with the given name. If the baseline does not exist, create it.

    Raises Refused if a team of participants has the name, or if the baseline has already submitted this file.
    """
    locked = lock_organized_phase(phase, by=by, right=Right.EDIT)
    if locked.truth is None:
        raise Refused("invalid", "This phase has no ground truth yet. Add it first.")
    team, is_new = team_named(name, locked.challenge)
    if baselines.has_file(locked, team, sha256=intake.digest_of(file)):
        raise Refused("invalid", f"{team.name} already has this file in this phase.")
    submission = baselines.submit_file(file, team=team, phase=locked)
    if is_new:
        audit.record(actor=by, action="team.added", subject=f"team {team.pk}", detail={"fields": ["name"]})
    detail = {"phase": locked.slug, "submission": str(submission.pk), "sha256": submission.sha256}
    audit.record(actor=by, action=baselines.ADDED, subject=f"team {team.pk}", detail=detail)
    return submission


def team_named(name: str, challenge: Challenge) -> tuple[Team, bool]:
    """Get or create the baseline with this name in a challenge. Return it, and whether it was created.

    Raises Refused if organizers have removed the baseline, or if a new baseline cannot have this name.
    """
    wanted = " ".join(name.split()).casefold()
    known = next((one for one in challenge.teams.filter(is_baseline=True) if one.name.casefold() == wanted), None)
    if known is None:
        tidy = chosen_name(name, taken_names(challenge))
        return Team.objects.create(challenge=challenge, name=tidy, is_baseline=True), True
    if known.disqualified_at is not None:
        raise Refused("invalid", f"{known.name} was removed. Put it back first, or choose another name.")
    return known, False


def latest(phase: Phase) -> list[Submission]:
    """Return the latest submission of each baseline to a phase, with scores, sorted by baseline name."""
    found = phase.submissions.filter(team__is_baseline=True).order_by("received_at").values_list("team", "pk")
    submissions = submission_table.read(phase, list(dict(found).values()))
    return sorted(submissions, key=lambda one: one.team.name.casefold())
