"""Creates the accounts and teams of the demo.

Visitors can log in to three of the accounts. The others belong to fictional participants and have no password.
"""

import secrets

from server.accounts.models import User
from server.accounts.services import create_account
from server.challenges.models import Challenge, Team
from server.challenges.services import join, join_team
from server.organize.demo.folders import demo_folder
from server.organize.demo.story import PEOPLE, STORIES, Entrant


def password() -> str:
    """Return the password of the demo accounts.

    It is generated once and stored in a file with mode 600.
    """
    path = demo_folder() / "password"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(9))
    return path.read_text()


def accounts() -> dict[str, User]:
    """Return all demo accounts, keyed by username. Missing accounts are created."""
    names = [*PEOPLE, *(name for story in STORIES for entrant in story.entrants for name in entrant.members)]
    known = {user.username: user for user in User.objects.filter(username__in=names)}
    for name in names:
        if name not in known:
            known[name] = account(name)
    return known


def account(name: str) -> User:
    return create_account(username=name, email=f"{name}@example.org", password=password() if name in PEOPLE else None)


def team(entrant: Entrant, challenge: Challenge, people: dict[str, User]) -> Team:
    """Return the stored team for one of the demo's teams. A missing team is created, and missing members are added."""
    captain, *others = (people[name] for name in entrant.members)
    joined = join(user=captain, challenge=challenge, accept_rules=True, team_name=entrant.team).team
    for member in others:
        join_team(user=member, team=joined, accept_rules=True)
    return joined
