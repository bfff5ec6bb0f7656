"""A program for test_board_race.py: eight threads change the leaderboards of one phase. Prints every inconsistency.

After a lost update, entries differ from the submissions. Locks in different orders cause deadlocks on PostgreSQL.
"""

import json
import os
from typing import Any

from tests.flows.race_quota import at_once  # imported first, because it sets up Django

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
    """Send no message; replaces `queue.enqueue`."""


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
