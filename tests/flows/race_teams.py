"""A program for test_teams.py in which users accept invitations and confirm merges at the same time.

The program prints the results.
"""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.flows.race_quota import at_once  # The module race_quota must be imported first, because it sets up Django.

# isort: split
from django.core.management import call_command
from django.db import connection

from server.accounts.models import User
from server.challenges.models import Challenge, Membership, Team
from server.challenges.services import join
from server.errors import Refused
from server.teams.services import invitations, members, merging

SIZE, PEOPLE = 3, 8


def main() -> None:
    call_command("migrate", verbosity=0)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    challenge = Challenge.objects.create(slug="race", title="Race", opens_at=yesterday, team_max_size=SIZE)
    owls, ada = founded(challenge, "ada")
    crows, bob = founded(challenge, "bob")
    people = [User.objects.create_user(f"p{number}", f"p{number}@example.org") for number in range(PEOPLE)]
    tokens = [invitations.invite_by_link(team=owls, by=ada)[1] for _ in people]
    one_token = invitations.invite_by_link(team=crows, by=bob)[1]
    connection.close()
    full = at_once(PEOPLE, lambda number: accepted(tokens[number], people[number]))
    outside = [one for one in people if not Membership.objects.filter(user=one).exists()]
    connection.close()
    same_link = at_once(len(outside), lambda number: accepted(one_token, outside[number]))
    torn = User.objects.create_user("torn", "torn@example.org")
    teams = [founded(challenge, f"captain{number}") for number in range(4)]
    both = [invitations.invite_by_link(team=team, by=captain)[1] for team, captain in teams]
    connection.close()
    two_teams = at_once(len(both), lambda number: accepted(both[number], torn))
    seen = {
        "vendor": connection.vendor,
        "full": Counter(full),
        "same_link": Counter(same_link),
        "two_teams": Counter(two_teams),
        "sizes": [team.memberships.count() for team in (owls, crows)],
        "teams_of_one_person": Membership.objects.filter(user=torn).count(),
        **merges_at_once(challenge),
    }
    print(json.dumps(seen))


def merges_at_once(challenge: Challenge) -> dict[str, object]:
    """Confirm four merges of teams at the same time, while one captain leaves.

    Each of four teams merges with the next one, and the last with the first. Return the number of requests with each
    outcome, the size of the largest team, and the distinct numbers of captains per team.
    """
    ring = [founded(challenge, f"ring{number}") for number in range(4)]
    pairs = [(ring[number], ring[(number + 1) % len(ring)]) for number in range(len(ring))]
    proposals = [merging.propose(team=team, other=other, by=by) for (team, by), (other, _) in pairs]
    captains = [captain for _, (_, captain) in pairs]
    connection.close()

    def act(number: int) -> str:
        if number < len(proposals):
            return answer(lambda: merging.confirm(proposal=proposals[number], by=captains[number]))
        return answer(lambda: members.leave(team=ring[0][0], by=ring[0][1]))

    answers = Counter(at_once(len(proposals) + 1, act))
    sizes = [team.memberships.count() for team in Team.objects.filter(name__startswith="ring", merged_into=None)]
    led = [
        team.memberships.filter(is_captain=True).count()
        for team in Team.objects.filter(name__startswith="ring", merged_into=None)
        if team.memberships.exists()
    ]
    return {"ring": answers, "ring_largest": max(sizes, default=0), "ring_captains": sorted(set(led))}


def founded(challenge: Challenge, name: str) -> tuple[Team, User]:
    user = User.objects.create_user(name, f"{name}@example.org")
    return join(user=user, challenge=challenge, accept_rules=True).team, user


def accepted(token: str, user: User) -> str:
    return answer(lambda: invitations.accept_link(token=token, user=user, accept_rules=True))


def answer(change: Callable[[], object]) -> str:
    """Carry out a change in a thread. Return "done", or the error code if the change is not allowed."""
    try:
        change()
    except Refused as refusal:
        return refusal.code
    finally:
        connection.close()
    return "done"


if __name__ == "__main__":
    main()
