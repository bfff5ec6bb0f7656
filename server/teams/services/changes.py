"""Functions that all changes to teams share: locks, permission checks, rules and audit entries."""

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.locks import lock_teams
from server.challenges.models import Challenge, Membership, Team
from server.clock import database_now
from server.errors import Refused
from server.teams.facts import terms_of
from server.teams.rules import Change, Terms, reasons_against


def lock(*teams: Team) -> list[Team]:
    """Lock the challenge of the given teams, and then the teams. Return the teams, read again after locking."""
    Challenge.objects.select_for_update(no_key=True).get(pk=teams[0].challenge_id)
    lock_teams({team.pk for team in teams})
    found = Team.objects.select_related("challenge").in_bulk([team.pk for team in teams])
    if len(found) < len({team.pk for team in teams}):
        raise Refused("not_found", "This team no longer exists.")
    return [found[team.pk] for team in teams]


def present_terms(challenge: Challenge) -> Terms:
    return terms_of(challenge, database_now())


def refuse(change: Change, terms: Terms) -> None:
    """Raise Refused unless the rules allow the change. The error message states the first reason against the change."""
    for reason in reasons_against(change, terms):
        raise Refused("change_refused", reason)


def refuse_others(by: User, team: Team) -> None:
    """Raise Refused if the user `by` is not the captain of the team."""
    if not Membership.objects.filter(team=team, user=by, is_captain=True).exists():
        raise Refused("forbidden", "Only the captain of the team can do this.")


def captain_of(team: Team) -> User:
    return team.memberships.select_related("user").get(is_captain=True).user


def member_of(team: Team, user: User) -> Membership:
    member = Membership.objects.select_related("user").filter(team=team, user=user).first()
    if member is None:
        raise Refused("not_a_member", f"{user} is not in team {team}.")
    return member


def record(by: User, team: Team, *, action: str, **detail: object) -> None:
    """Write an audit entry about a change to a team, after all locks have been taken; see `audit.services.record`."""
    audit.record(actor=by, action=action, subject=f"team {team.pk}", detail=detail)
