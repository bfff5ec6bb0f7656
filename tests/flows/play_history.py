"""A program for test_board_race.py: changes leaderboards at random, and prints any errors in their entries.

After each event, leaderboards are compared with the submissions, and ties and rank intervals are recomputed. At the
end, the leaderboards at every earlier time are read from the history in the database, and compared with those that were
shown then. The environment variable EVENTS is the number of events; a thousand events take a few minutes. If some kind
of event in KINDS has not succeeded after EVENTS events, up to four times as many events follow.
"""

import json
import os
from itertools import chain

# The module race_entries must be imported first, because it sets up Django.
from tests.flows.race_entries import nothing

# isort: split
from django.core.management import call_command
from django.db import connection

from server.leaderboards.services.verification import verify
from server.submissions import queue
from tests.server.leaderboards.random_history import History
from worker.comparisons.verification import wrong_comparisons

SEED = 5
KINDS = {"record", "rerun", "choose", "disqualify", "apply_rescoring"}


def main() -> None:
    call_command("migrate", verbosity=0)
    queue.enqueue = nothing
    history = History(SEED)
    snapshots, wrong = [], []
    events = int(os.environ.get("EVENTS", "60"))
    for moment in history.moments():
        snapshots.append((moment, history.shown()))
        if len(snapshots) > (events if history.done.keys() >= KINDS else 5 * events):
            break
        event = history.happen()
        found = chain(verify(history.current()), wrong_comparisons(history.current()))
        wrong += [f"after {event}: {one}" for one in found]
    wrong += [f"at {moment}" for moment, shown in snapshots if history.shown(at=moment) != shown]
    wrong += [f"at {moment}: {name}" for moment, _ in snapshots for name in history.wrong_names(moment)]
    print(json.dumps({"vendor": connection.vendor, "wrong": wrong, "done": history.done}))


if __name__ == "__main__":
    main()
