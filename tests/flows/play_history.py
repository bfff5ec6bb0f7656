"""A program for the test beside it: random events on a database of its own; prints every difference that it finds.

EVENTS says how many events; a thousand take some minutes.
"""

import json
import os

from tests.flows.race_entries import nothing  # first: it sets Django up

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
