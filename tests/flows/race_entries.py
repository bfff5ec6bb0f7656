"""A program for the test beside it: eight writers change the leaderboards of one phase; prints what is wrong then.

Lost updates show as entries that differ from the submissions, and locks in two orders as deadlocks on PostgreSQL.
"""

import json
import os
from typing import Any

from tests.flows.race_quota import at_once  # first: it sets Django up

# isort: split
from django.core.management import call_command
from django.db import connection

from server.leaderboards.models import Entry
from server.leaderboards.services.verification import verify
from server.submissions import queue
from server.submissions.models import Submission
from tests.server.leaderboards.random_history import History

WRITERS, SEED = 8, 11
EVENTS_EACH = int(os.environ.get("EVENTS_EACH", "25"))


def nothing(*message: Any) -> None:
    """Replaces the broker."""


def main() -> None:
    call_command("migrate", verbosity=0)
    queue.enqueue = nothing
    history = History(SEED)
    connection.close()
    answers = at_once(WRITERS, lambda number: write(history))
    seen = {
        "vendor": connection.vendor,
        "writers": answers,
        "wrong": list(verify(history.current())),
        "scored": Submission.objects.filter(status="scored").count(),
        "versions": Entry.objects.count(),
        "done": history.done,
    }
    print(json.dumps(seen))


def write(history: History) -> str:
    for _ in range(EVENTS_EACH):
        history.happen()
    return "done"


if __name__ == "__main__":
    main()
