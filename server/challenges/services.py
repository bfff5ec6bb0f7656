"""Functions for joining a challenge, alone or in a team."""

from collections.abc import Iterable
from datetime import datetime
from itertools import count

from django.db import transaction

from evaluator.bundle.rules import NAME_CHARACTERS
from evaluator.texts import BadName, clean_name, one_line
from server.accounts.models import User
from server.accounts.names import all_looks, looks
from server.accounts.services import is_listed
from server.audit import services as audit
from server.challenges.models import Block, Challenge, FormerMember, JoinRequest, Membership, Phase, Team
from server.challenges.reading import membership_of
from server.challenges.roles import Right, refuse_without
from server.clock import database_now, is_over, utc_text
from server.errors import Refused

REASON_CHARACTERS = 300
JOINED = "Someone has already joined this challenge or asked to join it. Close the challenge instead."


def refuse_excluded(user: User, challenge: Challenge) -> None:
    """Raise Refused for organizers and staff, who can read the private scores, and for blocked people."""
    if challenge.has_organizer(user):
        raise Refused(
            "forbidden",
            "Organizers and staff can read the private leaderboard of this challenge, so they cannot take part. Use "
            "another account.",
        )
    refuse_blocked(user, challenge)


def refuse_blocked(user: User, challenge: Challenge) -> None:
    """Raise Refused if the organizers have blocked a user from joining the challenge."""
    if Block.objects.filter(challenge=challenge, user=user).exists():
        raise Refused(
            "forbidden",
            f"The organizers do not allow {user} to join this challenge. Contact them if you think that this is "
            "a mistake.",
        )


def competing(challenge: Challenge, people: Iterable[User]) -> list[str]:
    """Return a phrase such as "ada is in team Owls" for each of the given users who is in a team of the challenge.

    Users who are in a team cannot be organizers of the challenge.
    """
    found = Membership.objects.filter(challenge=challenge, user__in=list(people)).select_related("user", "team")
    return [f"{member.user} is in team {member.team}" for member in found]


def has_joined(challenge: Challenge) -> bool:
    """Return whether anybody has joined a challenge or asked to join it. Baselines do not count."""
    teams = challenge.teams.filter(is_baseline=False)
    return challenge.memberships.exists() or challenge.join_requests.exists() or teams.exists()


@transaction.atomic
def join(*, user: User, challenge: Challenge, accept_rules: bool, team_name: str = "") -> Membership:
    """Make a user a member of a challenge, as the captain of a new team.

    A user who is already in a team stays in it. Raises Refused if organizers approve members; `approval.enter` also
    handles such challenges.
    """
    locked = lock_challenge(challenge, user)
    if member := membership_of(user, locked):
        return member
    if locked.registration == Challenge.Registration.APPROVAL:
        raise Refused(
            "awaiting_approval", "Organizers must approve new members of this challenge. Request to join first."
        )
    now = check_admission(locked, user, accept_rules=accept_rules)
    taken = taken_names(locked)
    name = chosen_name(team_name, taken) if team_name.strip() else free_name(user.get_username(), taken)
    return add_member(user, Team.objects.create(challenge=locked, name=name), now=now, is_captain=True)


@transaction.atomic
def join_team(*, user: User, team: Team, accept_rules: bool) -> Membership:
    """Make a user a member of a team. The caller must check that the team has accepted the user.

    A user who is already in a team stays in it. Raises Refused if the organizers have declined the user's request to
    join the challenge.
    """
    locked = lock_challenge(team.challenge, user)
    if member := membership_of(user, locked):
        return member
    if JoinRequest.objects.filter(challenge=locked, user=user, status=JoinRequest.Status.DECLINED).exists():
        raise declined()
    now = check_admission(locked, user, accept_rules=accept_rules)
    if team.memberships.count() >= locked.team_max_size:
        raise Refused(
            "invalid", f"{team.name} is full: a team has at most {locked.team_max_size} members in this challenge."
        )
    return add_member(user, team, now=now, is_captain=False)


def declined() -> Refused:
    return Refused(
        "not_a_member",
        "The organizers declined your request to join. Contact them if you think that this is a mistake.",
    )


def lock_challenge(challenge: Challenge, user: User) -> Challenge:
    """Lock a challenge, so that two users cannot take the same team name at the same time.

    Raises Refused if the user may not see the challenge.
    """
    readable = Challenge.objects.readable_by(user).filter(pk=challenge.pk)
    locked = Challenge.objects.select_for_update(no_key=True).filter(pk__in=readable.values("pk")).first()
    if locked is None:
        raise Refused("not_found", "This challenge does not exist, or you do not have access to it.")
    return locked


def lock_organized(key: int, *, by: User | None, right: Right, archived: bool = False) -> Challenge:
    """Lock the challenge with the given id, so that nobody can join it at the same time.

    Raises Refused if the user `by` does not have the given right.
    """
    locked = Challenge.objects.select_for_update(no_key=True).get(pk=key)
    refuse_without(right, by=by, challenge=locked, archived=archived)
    return locked


def lock_organized_phase(phase: Phase, *, by: User | None, right: Right) -> Phase:
    """Lock a phase and its challenge. Raises Refused if the user `by` lacks the given right; see `refuse_without`."""
    challenge = lock_organized(phase.challenge_id, by=by, right=right)
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    locked.challenge = challenge
    return locked


def reason_line(text: str, *, characters: int = REASON_CHARACTERS, field: str = "reason") -> str:
    """Return a reason entered by a user as a single line. Raises Refused if it is empty or too long."""
    try:
        return one_line(text, characters)
    except ValueError as error:
        raise Refused("invalid", f"{field}: {error}.") from None


def check_admission(challenge: Challenge, user: User, *, accept_rules: bool) -> datetime:
    """Return the database's current time. Raises Refused if the user may not join the challenge now."""
    refuse_excluded(user, challenge)
    if not accept_rules:
        raise Refused("rules_not_accepted", "To join, read and accept the rules of this challenge.")
    refuse_former_member(challenge, user)
    now = database_now()
    refuse_late(challenge, now)
    refuse_unlisted(challenge, user)
    return now


def refuse_former_member(challenge: Challenge, user: User) -> None:
    """Raise Refused if a user has left a team of the challenge after it had submitted.

    Otherwise, users could get more quota by leaving their team and joining another one.
    """
    former = FormerMember.objects.select_related("team").filter(challenge=challenge, user=user).first()
    if former is not None:
        raise Refused(
            "change_refused",
            f"You left team {former.team} after it submitted. In this challenge you can return only to that team, and "
            "only if its captain invites you.",
        )


def taken_names(challenge: Challenge) -> set[str]:
    """Return the normalized forms of all team names in a challenge (see `names.looks`).

    A name has up to two normalized forms. Names that share a form look alike, so a new name must not have a form that
    is already taken.
    """
    return all_looks(challenge.teams.values_list("name", flat=True))


def refuse_unlisted(challenge: Challenge, user: User) -> None:
    """Raise Refused if the challenge has allow lists of email domains or people, and the user is on none of them.

    The message names the domains, but not the people.
    """
    domains, people = challenge.allowed_domains.lower().split(), challenge.allowed_people.split()
    if not (domains or people) or is_listed(user, domains=domains, people=people):
        return
    listed = "people whose confirmed email address or username is on the organizers' list"
    at = f"accounts with a confirmed email address at {', '.join(domains)}"
    allowed = " and ".join([at] * bool(domains) + [listed] * bool(people))
    raise Refused("forbidden", f"Only {allowed} can join this challenge.")


def add_member(user: User, team: Team, *, now: datetime, is_captain: bool) -> Membership:
    member = Membership.objects.create(
        team=team, challenge=team.challenge, user=user, is_captain=is_captain, rules_accepted_at=now
    )
    JoinRequest.objects.filter(challenge=team.challenge, user=user).delete()
    audit.record(
        actor=user,
        action="challenge.joined",
        subject=f"challenge {team.challenge.slug}",
        detail={"team": team.pk},
    )
    return member


def registration_end(challenge: Challenge) -> datetime | None:
    """Return the time at which registration for a challenge closes, or None if it stays open.

    It is the registration deadline, the end of the challenge, or the time at which the challenge was archived,
    whichever comes first.
    """
    ends = (challenge.join_until, challenge.closes_at, challenge.archived_at)
    return min((end for end in ends if end is not None), default=None)


def refuse_late(challenge: Challenge, now: datetime) -> None:
    end = registration_end(challenge)
    if end is not None and is_over(end, now):
        raise Refused(
            "registration_closed",
            f"Registration ended at {utc_text(end)}. Contact the organizers if you still want to join.",
        )


def tidy_name(text: str) -> str:
    """Return the normalized form of a team name, as it is stored. Raises Refused if the name is not valid."""
    try:
        return clean_name(text, NAME_CHARACTERS)
    except BadName as error:
        raise Refused("invalid", str(error)) from None


def chosen_name(text: str, taken: set[str]) -> str:
    name = tidy_name(text)
    if not taken.isdisjoint(looks(name)):
        raise Refused(
            "invalid", f"There is already a team with the name {name} or a similar name. Choose another name."
        )
    return name


def free_name(username: str, taken: set[str]) -> str:
    """Return a name for a user's new team: the username, with a number appended if another team has a similar name."""
    for number in count(1):
        suffix = f" {number}" if number > 1 else ""
        name = username[: NAME_CHARACTERS - len(suffix)] + suffix
        if taken.isdisjoint(looks(name)):
            return name
    raise AssertionError("unreachable")


@transaction.atomic
def require_two_factor(*, challenge: Challenge, by: User, required: bool) -> None:
    """Set whether the organizers of a challenge need two-factor authentication.

    A user can require it only after turning it on for their own account.
    """
    refuse_without(Right.OWN, by=by, challenge=challenge)
    if required and not by.has_two_factor:
        raise Refused("invalid", "Turn on two-factor authentication for your own account first.")
    Challenge.objects.filter(pk=challenge.pk).update(organizers_need_two_factor=required)
    action = "challenge.two_factor_required" if required else "challenge.two_factor_not_required"
    audit.record(actor=by, action=action, subject=f"challenge {challenge.slug}")
