"""A program for test_teams.py: carries out random changes to teams, and prints any violated invariants.

The environment variable EVENTS is the number of events. After every event that changes a team, and after every 20th,
all invariants are checked and the leaderboards are compared with the submissions.
"""

import json
import os
from collections import Counter

# The module race_entries must be imported first, because it sets up Django.
from tests.flows.race_entries import nothing

# isort: split
from django.core.management import call_command
from django.db import connection

from server.leaderboards.services.verification import verify
from server.submissions import queue
from tests.server.teams.random_teams import RandomTeams

# A new challenge is created after this number of events. By then, most teams of the old challenge have submitted, and
# few of their members can still change teams.
EVENTS_OF_A_CHALLENGE = 250


def main() -> None:
    call_command("migrate", verbosity=0)
    queue.enqueue = nothing
    wrong: list[str] = []
    done: Counter[str] = Counter()
    for number in range(int(os.environ.get("EVENTS", "250"))):
        if number % EVENTS_OF_A_CHALLENGE == 0:
            world = RandomTeams(seed=number)
            world.done = done
        event = world.happen()
        if event in ("accept", "leave", "confirm") or number % 20 == 0:
            found = [*world.wrong(), *(one for phase in world.phases for one in verify(phase))]
            wrong += [f"after event {number}, {event}: {one}" for one in found]
    print(json.dumps({"vendor": connection.vendor, "wrong": wrong, "done": done}))


if __name__ == "__main__":
    main()
