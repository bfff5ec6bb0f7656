"""Deletes user accounts.

Submissions, scores and ranks are kept without the user's name, because other people's results depend on them.
"""

from collections.abc import Iterable, Iterator

from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Model, Q

from server.accounts.models import User
from server.accounts.names import all_looks, looks
from server.audit import services as audit
from server.challenges.models import Membership, Organizer, Team
from server.challenges.roles import Role
from server.clock import database_now
from server.errors import Refused
from server.notices.models import Event
from server.personal_data.export import ending_of
from server.submissions import partial_uploads
from server.submissions.models import FINISHED, Status, Submission
from server.submissions.services import leases
from server.teams.models import Invitation, MergeProposal, TeamProfile
from server.teams.services.changes import lock

NO_TEXTS = {"note": "", "method": "", "paper_url": "", "code_url": ""}


def reasons_against(user: User) -> Iterator[str]:
    """Yield a sentence for each reason why an account cannot be deleted yet.

    For example, the user may be the only owner of a challenge, or the captain of a team with other members.
    """
    for member in Membership.objects.filter(user=user, is_captain=True).select_related("team", "challenge"):
        if Membership.objects.filter(team=member.team_id).exclude(user=user).exists():
            yield (
                f"You are the captain of team {member.team} in {member.challenge}, and it has other members. First "
                "make one of them the captain, or leave the team."
            )
    for own in Organizer.objects.filter(user=user, role=Role.OWNER).select_related("challenge"):
        if not Organizer.objects.filter(challenge=own.challenge_id, role=Role.OWNER).exclude(user=user).exists():
            yield f"You are the only owner of {own.challenge}. Make someone else an owner first."
    if user.is_superuser and not User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk).exists():
        yield "This is the only operator account. Create another one first."


@transaction.atomic
def delete_account(user: User) -> None:
    """Delete an account with its tokens, sessions, notices and memberships. Raises Refused if it cannot be deleted yet.

    Challenges and teams are locked before the account. The user's teams are read again once the account is locked,
    because the user could have joined another team in the meantime.
    """
    teams = [lock(team)[0] for team in teams_of(user)]
    User.objects.select_for_update().get(pk=user.pk)
    if [team.pk for team in teams] != [team.pk for team in teams_of(user)]:
        raise Refused("change_refused", "Your teams were changed in the meantime. Try again.")
    for reason in reasons_against(user):
        raise Refused("change_refused", reason)
    for team in teams:
        if team.memberships.count() == 1:
            withdraw(team)
        else:
            remove_name(user, team)
    discard_uploads(user)
    events = [*Event.objects.filter(notices__user=user).values_list("pk", flat=True)]
    keys = UserSession.objects.filter(user=user).values_list("session_key", flat=True)
    Session.objects.filter(session_key__in=[*keys]).delete()
    pk = user.pk
    remove_from_admin_log(User, [pk])
    user.delete()
    # Delete the events about which only this user had notices. Their texts can contain the names of files that the
    # user submitted.
    Event.objects.filter(pk__in=events, notices=None).delete()
    audit.record(actor=None, action="user.deleted", subject=f"user {pk}")


def teams_of(user: User) -> list[Team]:
    memberships = Membership.objects.filter(user=user).select_related("team").order_by("challenge_id")
    return [member.team for member in memberships]


def withdraw(team: Team) -> None:
    """Remove all personal data from a team whose only member deletes their account.

    A team that has not submitted is deleted. Any other team keeps its ranks under the name "Withdrawn". Leaderboards
    for earlier times also show this name, because they use the current names of teams. If a worker is scoring one of
    the team's files, it loses its lease (its claim on the submission) and therefore cannot save any results.
    """
    own = Submission.objects.filter(team=team)
    if not own.exists():
        team.delete()
        return
    unfinished = own.exclude(status__in=FINISHED)
    unfinished.update(status=Status.CANCELLED, finished_at=database_now(), stage="", **leases.NO_LEASE)
    remove_from_admin_log(Submission, own.values_list("pk", flat=True))
    for submission in own.only("file_name"):
        Submission.objects.filter(pk=submission.pk).update(
            file_name=f"withdrawn{ending_of(submission.file_name)}", idempotency_key="", **NO_TEXTS
        )
    TeamProfile.objects.filter(team=team).delete()
    Invitation.objects.filter(team=team).delete()
    MergeProposal.objects.filter(Q(team=team) | Q(other=team)).delete()
    for one in (team, *Team.objects.filter(merged_into=team)):
        rename(one, "Withdrawn")


def remove_name(user: User, team: Team) -> None:
    """Rename a user's team, and the teams merged into it, if they are named after the user.

    The team must have other members. Teams are often named after a user, because the default name of a new team is the
    username of its first member.
    """
    own = all_looks([user.get_username(), user.shown_name])
    for one in (team, *Team.objects.filter(merged_into=team)):
        if not own.isdisjoint(looks(one.name)):
            rename(one, "Team" if one == team else "Withdrawn")


def rename(team: Team, word: str) -> None:
    """Rename a team to the given word followed by the team's id, so that its name is unique in the challenge."""
    others = Team.objects.filter(challenge=team.challenge_id).exclude(pk=team.pk)
    team.name = f"{word} {team.pk}"
    while others.filter(name__iexact=team.name).exists():
        team.name = f"{team.name}."
    team.save(update_fields=["name", "search_name"])
    remove_from_admin_log(Team, [team.pk])


def remove_from_admin_log(model: type[Model], keys: Iterable[object]) -> None:
    """Remove the names and change messages of the objects with the given keys from Django's admin log."""
    kind = ContentType.objects.get_for_model(model)
    changes = LogEntry.objects.filter(content_type=kind, object_id__in=[str(key) for key in keys])
    changes.update(object_repr=kind.name, change_message="")


def discard_uploads(user: User) -> None:
    """Delete the unfinished uploads of a user."""
    for upload in partial_uploads.unfinished():
        if upload.user == user.pk:
            partial_uploads.discard(upload)
