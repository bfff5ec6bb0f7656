"""A program for test_board_race.py: random events change the leaderboards of a database. Prints every difference.

After each event, leaderboards are compared with the submissions; at the end, the history with earlier leaderboards.
EVENTS is the number of events; a thousand take some minutes.
"""

import json
import os

from tests.flows.race_entries import nothing  # imported first, because it sets up Django

# isort: split
from django.core.management import call_command
from django.db import connection

from server.leaderboards.services.verification import verify
from server.submissions import queue
from tests.server.leaderboards.random_history import History

SEED = 5


def main() -> None:
    call_command("migrate", verbosity=0)
    queue.enqueue = nothing
    history = History(SEED)
    snapshots, wrong = [], []
    for moment in history.moments():
        snapshots.append((moment, history.shown()))
        if len(snapshots) > int(os.environ.get("EVENTS", "60")):
            break
        event = history.happen()
        wrong += [f"after {event}: {one}" for one in verify(history.current())]
    wrong += [f"at {moment}" for moment, shown in snapshots if history.shown(at=moment) != shown]
    print(json.dumps({"vendor": connection.vendor, "wrong": wrong, "done": history.done}))


if __name__ == "__main__":
    main()
