"""Prints, as JSON, the cost of recording a score: CPU milliseconds of this process and of its PostgreSQL backend.

`python -m tests.benchmarks.recording` fills the database of PODIUM_HOME or DATABASE_URL if it is empty, and records
scores for teams that have 50 earlier submissions, in a phase with 2,000 teams. `bench.py` also runs this program with
an earlier version of the service, so it imports only modules that exist in both versions.
"""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any
from uuid import uuid4

TEAMS, EACH = 2_000, 50
TIMES, DISCARDED = 150, 10
SPLITS = ("public", "private", "all")


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "server.settings"
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from server.challenges.models import Challenge, Phase
    from server.submissions import queue
    from tests.benchmarks.crowd import write_scores

    # Messages to the broker are dropped, because no broker is running.
    queue.send = queue.enqueue = lambda *message: None
    call_command("migrate", verbosity=0)
    if not Challenge.objects.exists():
        write_scores(teams=TEAMS, each=EACH, after_each_half=rebuild)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    phase = Phase.objects.get()
    random = Random()
    cpu = {"best": lambda: 0.99 + random.random() / 100, "not best": lambda: random.random() / 100}
    print(json.dumps({name: recorded(phase, random, value) for name, value in cpu.items()}))


def rebuild(phase: Any) -> None:
    with suppress(ImportError):  # The earlier version of the service has no module `entries`.
        from server.leaderboards.services import entries

        entries.rebuild(phase)


def recorded(phase: Any, random: Random, value: Callable[[], float]) -> float:
    """Record scores for random teams, and return the median CPU time in milliseconds."""
    from server.submissions.services import lifecycle

    truth = phase.truths.get()
    teams = list(phase.challenge.teams.values_list("pk", flat=True))
    spent = []
    for _ in range(TIMES):
        submission = running(phase, random.choice(teams))
        score = {split: {"headline": "mAP", "metrics": {"mAP": value()}, "intervals": {}} for split in SPLITS}
        report = {"signature": phase.signature, "splits": score}
        before = cpu_time()
        assert lifecycle.record(submission, truth=truth, report=report, cpu_seconds=0.1)
        spent.append(cpu_time() - before)
    return 1000 * median(spent[DISCARDED:])


def running(phase: Any, team: int) -> Any:
    """Create a submission that this process has claimed for scoring, and load it as a worker does."""
    from server.clock import database_now
    from server.submissions.models import Submission

    now = database_now()
    one = Submission.objects.create(
        **{"phase": phase, "team_id": team, "file": "submissions/none", "file_name": "a.csv", "size_bytes": 1},
        **{"sha256": "0" * 64, "received_at": now, "enqueued_at": now, "started_at": now, "attempts": 1},
        **{"status": "running", "lease_token": uuid4(), "lease_until": now + timedelta(hours=1)},
    )
    return Submission.objects.select_related("phase", "team").get(pk=one.pk)


def cpu_time() -> float:
    """Return the CPU seconds used so far by this process and, with PostgreSQL, by the backend of its connection."""
    from django.db import connection

    backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat") if postgres() else None
    in_database = int(backend.read_text().split()[0]) / 1e9 if backend else 0.0
    return process_time() + in_database


def postgres() -> bool:
    from django.db import connection

    return connection.vendor == "postgresql"


if __name__ == "__main__":
    main()
