"""Changes to the members of a team: joining, leaving, removing a member, and changing the captain."""

from django.db import transaction

from server.accounts.models import User
from server.challenges.models import FormerMember, Membership, Team
from server.challenges.reading import membership_of
from server.challenges.services import (
    add_member,
    join_team,
    lock_challenge,
    refuse_excluded,
    refuse_late,
    refuse_unlisted,
)
from server.clock import database_now
from server.errors import Refused
from server.teams.facts import facts_of, facts_of_teams
from server.teams.models import Invitation
from server.teams.rules import Enter, Leave, Remove, reasons_against
from server.teams.services.changes import lock, member_of, present_terms, record, refuse, refuse_others


@transaction.atomic
def enter(*, user: User, team: Team, accept_rules: bool) -> Membership:
    """Make a user a member of a team. Raises Refused if a rule forbids it. The caller checks that the team has agreed.

    If the user is the only member of another team, that team is deleted.
    """
    challenge = lock_challenge(team.challenge, user)
    own, former = membership_of(user, challenge), former_team(user, team)
    if own is not None and own.team_id == team.pk:
        return own
    team, *others = lock(team, *([own.team] if own else []), *([former] if former else []))
    facts = facts_of_teams([team, *others])
    refuse_excluded(user, challenge)
    refuse(
        Enter(facts[team.pk], facts[own.team_id] if own else None, facts[former.pk] if former else None),
        present_terms(challenge),
    )
    waiting = Invitation.objects.filter(user=user, team__challenge=challenge, kind=Invitation.Kind.REQUEST)
    waiting.delete()
    if own is not None:
        return move(own, team)
    if former is not None:
        return come_back(user, team, accept_rules=accept_rules)
    return join_team(user=user, team=team, accept_rules=accept_rules)


def reasons_against_entering(user: User, team: Team) -> list[str]:
    """Return a sentence for each rule that prevents a user from joining a team now."""
    own, former = membership_of(user, team.challenge), former_team(user, team)
    facts = facts_of_teams([team, *([own.team] if own else []), *([former] if former else [])])
    change = Enter(facts[team.pk], facts[own.team_id] if own else None, facts[former.pk] if former else None)
    reasons = list(reasons_against(change, present_terms(team.challenge)))
    try:
        refuse_excluded(user, team.challenge)
        if own is None and former is None:
            refuse_late(team.challenge, database_now())
            refuse_unlisted(team.challenge, user)
    except Refused as refusal:
        reasons.append(refusal.detail)
    return reasons


def former_team(user: User, team: Team) -> Team | None:
    found = FormerMember.objects.select_related("team").filter(challenge=team.challenge_id, user=user).first()
    return found.team if found else None


def move(own: Membership, team: Team) -> Membership:
    """Move the only member of a team to another team, and delete the team that the member left."""
    former = own.team
    Membership.objects.filter(pk=own.pk).update(team=team, is_captain=False, is_shown=False, joined_at=database_now())
    former_id = former.pk
    former.delete()
    record(own.user, team, action="team.joined", former=former_id)
    return member_of(team, own.user)


def come_back(user: User, team: Team, *, accept_rules: bool) -> Membership:
    if not accept_rules:
        raise Refused("rules_not_accepted", "To join, read and accept the rules of this challenge.")
    FormerMember.objects.filter(challenge=team.challenge_id, user=user).delete()
    return add_member(user, team, now=database_now(), is_captain=False)


@transaction.atomic
def leave(*, team: Team, by: User) -> None:
    """Remove a user from a team at the user's own request.

    If the team has submitted, the user cannot join any other team of the challenge afterwards.
    """
    (team,) = lock(team)
    member, facts = member_of(team, by), facts_of(team)
    refuse(Leave(facts, is_captain=member.is_captain), present_terms(team.challenge))
    member.delete()
    if facts.is_bound:
        FormerMember.objects.create(team=team, challenge=team.challenge, user=by, left_at=database_now())
    elif facts.size == 1:
        team.delete()
    record(by, team, action="team.left")


@transaction.atomic
def remove(*, team: Team, user: User, by: User) -> None:
    """Remove a member from a team. Only the captain may do this, and only while the team has not submitted."""
    (team,) = lock(team)
    refuse_others(by, team)
    member = member_of(team, user)
    if user == by:
        raise Refused("invalid", "You cannot remove yourself. Leave the team instead.")
    refuse(Remove(facts_of(team)), present_terms(team.challenge))
    member.delete()
    record(by, team, action="team.member_removed", user=user.pk)


@transaction.atomic
def hand_over(*, team: Team, user: User, by: User) -> None:
    """Make another member the captain of a team. Only the current captain may do this."""
    (team,) = lock(team)
    refuse_others(by, team)
    member = member_of(team, user)
    team.memberships.update(is_captain=False)
    Membership.objects.filter(pk=member.pk).update(is_captain=True)
    record(by, team, action="team.captain_changed", user=user.pk)


@transaction.atomic
def show(*, team: Team, by: User, shown: bool) -> None:
    """Set whether the public page of a team shows the name of the member `by`."""
    (team,) = lock(team)
    member = member_of(team, by)
    if member.is_shown == shown:
        return
    Membership.objects.filter(pk=member.pk).update(is_shown=shown)
    record(by, team, action="team.member_shown", shown=shown)
