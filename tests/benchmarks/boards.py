"""Measures the CPU time of requests for a large leaderboard, relative to that of a view that returns fixed rows.

`python -m tests.benchmarks.boards TEAMS EACH [HOME]` fills a database with TEAMS teams and EACH submissions per team,
and prints JSON. HOME is a state folder that is empty or was filled by an earlier run; by default, a temporary folder is
used. DATABASE_URL selects another database.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

ROUNDS = 15


def main(teams: str, each: str, home: str = "") -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.benchmarks.board_settings"
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    with TemporaryDirectory(prefix="podium-boards-") as folder:
        os.environ["PODIUM_HOME"] = home or os.environ.get("PODIUM_HOME", folder)
        print(json.dumps(measured(int(teams), int(each))))


def fill(teams: int, each: int) -> None:
    """Create the tables of the database and fill them, unless a previous run has already done so."""
    from django.core.management import call_command
    from django.db import connection

    from tests.benchmarks.crowd import write, write_sortable, write_watched

    call_command("migrate", verbosity=0)
    if not Path(os.environ["PODIUM_HOME"], "filled").exists():
        write(teams=teams, each=each)
        write_sortable(teams=teams)
        write_watched()
        # PostgreSQL plans queries with statistics about the tables, which it may not have collected yet.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        Path(os.environ["PODIUM_HOME"], "filled").touch()


def measured(teams: int, each: int) -> dict[str, Any]:
    import django

    django.setup()
    fill(teams, each)
    deeds = requests()
    cpu: dict[str, list[float]] = {name: [] for name in deeds}
    # Each round sends every kind of request once, so that the load on the machine affects all of them equally. The
    # first round is not measured, because the caches are still empty.
    for turn in range(ROUNDS + 1):
        for name, deed in deeds.items():
            started = process_time()
            deed()
            if turn:
                cpu[name].append(process_time() - started)
    bare = median(cpu["bare"])
    return {name: {"milliseconds": 1000 * median(each), "ratio": median(each) / bare} for name, each in cpu.items()}


def requests() -> dict[str, Callable[[], None]]:
    """Return a dict that maps the name of each measured request to a function that sends the request."""
    from django.core.cache import caches
    from django.test import Client

    from server.submissions.models import Submission
    from tests.recorded_login import log_in

    anybody, reader, watcher = Client(), Client(), Client()
    log_in(watcher, "watcher")
    watched = "/organize/challenges/watched/phases/main"
    log_in(reader, "reader")
    own = Submission.objects.filter(team__memberships__user__username="reader").latest("received_at").pk
    page, api = "/challenges/crowd/leaderboard", "/api/v1/challenges/crowd/phases/main/leaderboard"
    sortable = "/challenges/sortable/leaderboard"
    then = "at=2026-04-01T00:00"

    def ask(client: Client, address: str, *, fresh: bool = False, status: int = 200) -> Callable[[], None]:
        # Discard the first response to a member, because it sets a cookie that changes the ETag of later responses.
        client.get(address)
        validator = client.get(address).headers.get("ETag", "") if status == 304 else ""

        def deed() -> None:
            if fresh:  # For past leaderboards, which never change, the caches are kept.
                caches["boards"].clear()
            answer = client.get(address, headers={"If-None-Match": validator} if validator else {})
            assert answer.status_code == status, (address, answer.status_code)

        return deed

    return {
        "bare": ask(anybody, "/bare"),
        "page, uncached": ask(anybody, page, fresh=True),
        "page, cached": ask(anybody, page),
        "page, 304": ask(anybody, page, status=304),
        "page of a member, uncached": ask(reader, page, fresh=True),
        "page of a member, cached": ask(reader, page),
        "page of a member, 304": ask(reader, page, status=304),
        "API": ask(anybody, api, fresh=True),
        "API, 304": ask(anybody, api, status=304),
        "search": ask(anybody, f"{page}?q=Team+001"),
        "search, API": ask(anybody, f"{api}?search=Team+001"),
        "search at a time": ask(anybody, f"{page}?q=Team+001&{then}"),
        "search without a match": ask(anybody, f"{page}?q=nobody"),
        "sort by another metric": ask(anybody, f"{sortable}?sort=mean_class_top1", fresh=True),
        "same leaderboard by rank": ask(anybody, sortable, fresh=True),
        "baselines": ask(anybody, f"{page}?baselines=hide", fresh=True),
        "page at a time": ask(anybody, f"{page}?{then}", fresh=True),
        "page of a member at a time": ask(reader, f"{page}?{then}", fresh=True),
        "API at a time": ask(anybody, f"{api}?{then}:00Z", fresh=True),
        "last page": ask(anybody, f"{page}?page=999999", fresh=True),
        "overview": ask(anybody, "/challenges/crowd/"),
        "home": ask(reader, "/"),
        "submission": ask(reader, f"/submissions/{own}/"),
        "panel": ask(reader, f"/submissions/{own}/panel"),
        "submission in the API": ask(reader, f"/api/v1/submissions/{own}"),
        "own submissions": ask(reader, "/api/v1/challenges/crowd/phases/main/submissions"),
        "submissions of all teams": ask(watcher, f"{watched}/submissions"),
        "failed submissions of all teams": ask(watcher, f"{watched}/submissions?status=failed&sort=team"),
        "live page of a phase": ask(watcher, f"{watched}/live"),
        "own submissions, page": ask(reader, "/challenges/crowd/submissions"),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
