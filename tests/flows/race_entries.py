"""A program for test_board_race.py: eight threads change the leaderboards of a phase, and any errors are printed.

After a lost update, leaderboard entries would differ from the submissions. If threads took locks in different orders,
PostgreSQL would report a deadlock.
"""

import json
import os
from typing import Any

from tests.flows.race_quota import at_once  # The module race_quota must be imported first, because it sets up Django.

# isort: split
from django.core.management import call_command
from django.db import connection

from server.leaderboards.models import ComparedEntry, Entry
from server.leaderboards.services.verification import verify
from server.submissions import queue
from server.submissions.models import Submission
from tests.conftest import compare_boards
from tests.server.leaderboards.random_history import History
from worker.comparisons.verification import wrong_comparisons

WRITERS, SEED = 8, 11
EVENTS_EACH = int(os.environ.get("EVENTS_EACH", "25"))


def nothing(*message: Any) -> None:
    """Do nothing. This function replaces `queue.enqueue`, so that no message is sent."""


def main() -> None:
    call_command("migrate", verbosity=0)
    queue.enqueue = nothing
    history = History(SEED)
    # Real uploads take locks that exclude team merges and account deletions. `History` creates submissions without
    # these locks. Therefore, its events "merge" and "delete_account" are replaced by "compare", which is harmless.
    history.merge = history.delete_account = history.compare
    connection.close()
    answers = at_once(WRITERS, lambda number: write(history))
    compare_boards()
    seen = {
        "vendor": connection.vendor,
        "writers": answers,
        "wrong": [*verify(history.current()), *wrong_comparisons(history.current())],
        "compared": ComparedEntry.objects.count(),
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
