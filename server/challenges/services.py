"""Who takes part: joining a challenge, alone or as the first of a team."""

from collections.abc import Iterable
from datetime import datetime
from itertools import count
from typing import Any

from django.db import transaction

from server.accounts.models import User
from server.accounts.names import BadName, all_looks, clean_name, looks
from server.accounts.services import has_confirmed_address_at
from server.audit import services as audit
from server.challenges.models import Challenge, JoinRequest, Membership, Team
from server.clock import database_now, is_over
from server.errors import Refused

NAME_CHARACTERS = 80


def membership_of(user: Any, challenge: Challenge) -> Membership | None:
    """A person's place in a challenge; None for strangers and for nobody."""
    if not user.is_authenticated:
        return None
    return Membership.objects.select_related("team").filter(challenge=challenge, user=user).first()


def refuse_organizer(user: User, challenge: Challenge) -> None:
    """Who reads the private board does not compete: organizers and staff."""
    if challenge.is_organized_by(user):
        raise Refused(
            "forbidden",
            "You organize this challenge or belong to the staff: you can read its private board, so you cannot take "
            "part. Use an account that does neither.",
        )


def competing(challenge: Challenge, people: Iterable[User]) -> list[str]:
    """Name those of the people who are in a team of the challenge; they cannot become its organizers."""
    found = Membership.objects.filter(challenge=challenge, user__in=list(people)).select_related("user", "team")
    return [f"{member.user} is in team {member.team}" for member in found]


@transaction.atomic
def join(*, user: User, challenge: Challenge, accept_rules: bool, team_name: str = "") -> Membership:
    """Take part as a team of one, its captain; a member stays where they are.

    Refused where organizers approve whoever joins: `approval.enter` is for both kinds of challenges.
    """
    locked = opened(challenge, user)
    if member := membership_of(user, locked):
        return member
    if locked.registration == Challenge.Registration.APPROVAL:
        raise Refused("awaiting_approval", "Organizers approve whoever joins this challenge. Request to join.")
    now = admitted_at(locked, user, accept_rules=accept_rules)
    taken = taken_names(locked)
    name = chosen_name(team_name, taken) if team_name.strip() else free_name(user.get_username(), taken)
    return enrol(user, Team.objects.create(challenge=locked, name=name), now=now, is_captain=True)


@transaction.atomic
def join_team(*, user: User, team: Team, accept_rules: bool) -> Membership:
    """Take part in a team; whether it wants them is the caller's to know. A member of a team stays there."""
    locked = opened(team.challenge, user)
    if member := membership_of(user, locked):
        return member
    now = admitted_at(locked, user, accept_rules=accept_rules)
    if team.memberships.count() >= locked.team_max_size:
        raise Refused("invalid", f"{team.name} is full: a team has at most {locked.team_max_size} members here.")
    return enrol(user, team, now=now, is_captain=False)


def opened(challenge: Challenge, user: User) -> Challenge:
    """Find and lock the challenge: whoever joins waits here for the one before, so that no name is taken twice."""
    readable = Challenge.objects.readable_by(user).filter(pk=challenge.pk)
    locked = Challenge.objects.select_for_update(no_key=True).filter(pk__in=readable.values("pk")).first()
    if locked is None:
        raise Refused("not_found", "There is no such challenge, or it is not open to you.")
    return locked


def admitted_at(challenge: Challenge, user: User, *, accept_rules: bool) -> datetime:
    """Return the time of joining, by the database's clock, if it may be."""
    refuse_organizer(user, challenge)
    if not accept_rules:
        raise Refused("rules_not_accepted", "Read the rules of this challenge and accept them to join.")
    now = database_now()
    refuse_late(challenge, now)
    refuse_elsewhere(challenge, user)
    return now


def taken_names(challenge: Challenge) -> set[str]:
    """Return what a further team's name must not look like: see `names.looks`."""
    return all_looks(challenge.teams.values_list("name", flat=True))


def refuse_elsewhere(challenge: Challenge, user: User) -> None:
    """Where only some mail domains are allowed, a confirmed address at one of them is needed."""
    domains = challenge.allowed_domains.lower().split()
    if domains and not has_confirmed_address_at(user, domains):
        allowed = ", ".join(domains)
        raise Refused("forbidden", f"Only accounts with a confirmed mail address at {allowed} can join this challenge.")


def enrol(user: User, team: Team, *, now: datetime, is_captain: bool) -> Membership:
    member = Membership.objects.create(
        team=team, challenge=team.challenge, user=user, is_captain=is_captain, rules_accepted_at=now
    )
    JoinRequest.objects.filter(challenge=team.challenge, user=user).delete()
    audit.record(
        actor=user,
        action="challenge.joined",
        subject=f"challenge {team.challenge.slug}",
        detail={"team": team.name, "id": team.pk},
    )
    return member


def registration_end(challenge: Challenge) -> datetime | None:
    """Joining ends with the registration deadline and with the challenge; it may begin before the challenge does."""
    return min((end for end in (challenge.join_until, challenge.closes_at) if end is not None), default=None)


def refuse_late(challenge: Challenge, now: datetime) -> None:
    end = registration_end(challenge)
    if end is not None and is_over(end, now):
        raise Refused(
            "registration_closed",
            f"Registration ended at {end:%Y-%m-%d %H:%M} UTC. Write to the organizers if you still want in.",
        )


def tidy_name(text: str) -> str:
    """Return a team's name as it is shown and compared."""
    try:
        return clean_name(text, NAME_CHARACTERS)
    except BadName as error:
        raise Refused("invalid", str(error)) from None


def chosen_name(text: str, taken: set[str]) -> str:
    name = tidy_name(text)
    if not taken.isdisjoint(looks(name)):
        raise Refused(
            "invalid", f"There is a team {name} already, or one whose name looks like it. Choose another name."
        )
    return name


def free_name(username: str, taken: set[str]) -> str:
    """The person's own name, with the first number that is free if another team has it."""
    for number in count(1):
        suffix = f" {number}" if number > 1 else ""
        name = username[: NAME_CHARACTERS - len(suffix)] + suffix
        if taken.isdisjoint(looks(name)):
            return name
    raise AssertionError("numbers do not end")
