"""Invitations to teams, by link or username, and requests to join a team."""

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.dispatch import Signal

from server.accounts.models import ApiToken, User
from server.challenges.models import Block, Challenge, Membership, Team
from server.challenges.reading import membership_of
from server.challenges.services import refuse_excluded
from server.clock import database_now
from server.errors import Refused
from server.teams.facts import facts_of
from server.teams.models import Invitation
from server.teams.rules import Invite
from server.teams.services import members
from server.teams.services.changes import captain_of, lock, present_terms, record, refuse, refuse_others
from server.teams.services.contacts import note_contact

Kind = Invitation.Kind

VALID = timedelta(days=14)
# A team can have at most 20 open invitations and requests to join. A person can have at most 20 open requests in a
# challenge.
WAITING_MAX = 20
# The signal `invited` is sent when a person is invited by username. Receivers run within the transaction and get the
# argument `invitation`.
invited = Signal()
UNKNOWN = "This invitation is no longer valid: it was used or withdrawn, or has expired. Ask the captain for a new one."


@transaction.atomic
def invite(*, team: Team, by: User, username: str) -> Invitation:
    """Invite the user with the given username to a team. Only the captain may do this."""
    (team,) = lock(team)
    now = prepare(team, by)
    user = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if user is None or not Challenge.objects.readable_by(user).filter(pk=team.challenge_id).exists():
        raise Refused("invalid", "There is no user with this name who can see this challenge.")
    if team.challenge.is_organized_by(user):
        raise Refused("invalid", f"{user} is staff or an organizer of this challenge, so this person cannot take part.")
    if Membership.objects.filter(team=team, user=user).exists():
        raise Refused("invalid", f"{user} is already in your team.")
    if Block.objects.filter(challenge=team.challenge, user=user).exists():
        raise Refused("invalid", f"{user} cannot join this challenge.")
    if waiting := Invitation.objects.filter(team=team, user=user).first():
        if waiting.kind == Kind.REQUEST:
            raise Refused("invalid", f"{user} has requested to join your team. Accept the request instead.")
        raise Refused("invalid", f"{user} is already invited.")
    note_contact(sender=by, recipient=user, challenge=team.challenge, now=now)
    found = Invitation.objects.create(team=team, kind=Kind.PERSON, user=user, created_at=now, expires_at=now + VALID)
    invited.send(Invitation, invitation=found)
    record(by, team, action="team.invited", user=user.pk)
    return found


@transaction.atomic
def invite_by_link(*, team: Team, by: User) -> tuple[Invitation, str]:
    """Create an invitation by link for one person. Return it and the token for its link. The token is not stored."""
    (team,) = lock(team)
    now = prepare(team, by)
    token = secrets.token_urlsafe(32)
    found = Invitation.objects.create(
        team=team,
        kind=Kind.LINK,
        token_sha256=ApiToken.digest(token),
        created_at=now,
        expires_at=now + VALID,
    )
    record(by, team, action="team.invited", invitation=found.pk)
    return found, token


def prepare(team: Team, by: User) -> datetime:
    """Check that the user `by` may invite people to the team now. Return the current time, or raise Refused."""
    refuse_others(by, team)
    terms = present_terms(team.challenge)
    refuse(Invite(facts_of(team)), terms)
    refuse_too_many(Q(team=team), terms.now)
    return terms.now


def refuse_too_many(whose: Q, now: datetime) -> None:
    """Raise Refused if too many open invitations and requests match `whose`. Expired ones are deleted first."""
    Invitation.objects.filter(whose, expires_at__lte=now).delete()
    if Invitation.objects.filter(whose).count() >= WAITING_MAX:
        raise Refused(
            "invalid",
            f"There are already {WAITING_MAX} open invitations and requests. Withdraw an invitation or decide on "
            "a request first.",
        )


@transaction.atomic
def ask(*, user: User, team: Team, accept_rules: bool) -> Invitation:
    """Store a user's request to join a team. The captain of the team accepts or declines it."""
    (team,) = lock(team)
    terms = present_terms(team.challenge)
    refuse_excluded(user, team.challenge)
    refuse(Invite(facts_of(team)), terms)
    own = membership_of(user, team.challenge)
    if own is not None and own.team_id == team.pk:
        raise Refused("invalid", "You are already in this team.")
    if own is None and not accept_rules:
        raise Refused("rules_not_accepted", "To join, read and accept the rules of this challenge.")
    refuse_too_many(Q(team=team), terms.now)
    refuse_too_many(Q(user=user, kind=Kind.REQUEST, team__challenge=team.challenge), terms.now)
    if waiting := Invitation.objects.filter(team=team, user=user).first():
        if waiting.kind == Kind.PERSON:
            raise Refused("invalid", f"{team} has invited you. Accept the invitation instead.")
        return waiting
    note_contact(sender=user, recipient=captain_of(team), challenge=team.challenge, now=terms.now)
    found = Invitation.objects.create(
        **{"team": team, "kind": Kind.REQUEST, "user": user, "rules_accepted": accept_rules or own is not None},
        **{"created_at": terms.now, "expires_at": terms.now + VALID},
    )
    record(user, team, action="team.requested")
    return found


@transaction.atomic
def accept_link(*, token: str, user: User, accept_rules: bool) -> Membership:
    """Accept an invitation to a team, given the token in its link. The link cannot be used again."""
    found = Invitation.objects.of_token(token).select_related("team").first()
    if found is None:
        raise Refused("not_found", UNKNOWN)
    return use(found, user=user, accept_rules=accept_rules)


@transaction.atomic
def accept(*, invitation: Invitation, by: User, accept_rules: bool = False) -> Membership:
    """Accept an invitation, as the invited person, or a request to join, as the captain of the team."""
    user = invitation.user
    if user is None or (invitation.kind == Kind.PERSON and user != by):
        raise Refused("not_found", UNKNOWN)
    if invitation.kind == Kind.REQUEST:
        # The team is locked, so that its captain cannot change in the meantime.
        refuse_others(by, lock_for_entering(user, invitation.team))
    return use(invitation, user=user, accept_rules=accept_rules or invitation.rules_accepted)


def use(invitation: Invitation, *, user: User, accept_rules: bool) -> Membership:
    """Make a user a member of the team and delete the invitation. If a rule forbids this, the invitation is kept."""
    team = lock_for_entering(user, invitation.team)
    if not Invitation.objects.waiting(database_now()).filter(pk=invitation.pk).delete()[0]:
        raise Refused("not_found", UNKNOWN)
    Invitation.objects.filter(team=team, user=user).delete()
    return members.enter(user=user, team=team, accept_rules=accept_rules)


def lock_for_entering(user: User, team: Team) -> Team:
    """Lock a team together with the present and the former team of a user who enters it. Return the team, read again.

    All of them are locked at once, because teams are always locked in the order of their ids. The challenge is locked
    first, so that the user's team cannot change in the meantime.
    """
    challenge = Challenge.objects.select_for_update(no_key=True).get(pk=team.challenge_id)
    own, former = membership_of(user, challenge), members.former_team(user, team)
    return lock(team, *([own.team] if own else []), *([former] if former else []))[0]


@transaction.atomic
def close(*, invitation: Invitation, by: User) -> None:
    """Delete an invitation or a request to join without changing the team.

    Only the captain and the person who was invited, or who asked to join, may do this.
    """
    (team,) = lock(invitation.team)
    if invitation.user != by:
        refuse_others(by, team)
    if not Invitation.objects.filter(pk=invitation.pk).delete()[0]:
        raise Refused("not_found", UNKNOWN)
    detail = {"user": invitation.user_id} if invitation.user_id else {}
    record(by, team, action="team.invitation_closed", kind=invitation.kind, **detail)
