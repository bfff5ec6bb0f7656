"""What reading a large leaderboard costs, as multiples of a bare view, in CPU time of this process.

`python -m tests.benchmarks.boards TEAMS EACH` fills a database and prints JSON. PODIUM_HOME or DATABASE_URL say which
database; it has to be empty.
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


def main(teams: str, each: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.benchmarks.board_settings"
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    with TemporaryDirectory(prefix="podium-boards-") as folder:
        os.environ.setdefault("PODIUM_HOME", folder)
        print(json.dumps(measured(int(teams), int(each))))


def measured(teams: int, each: int) -> dict[str, Any]:
    import django

    django.setup()
    from django.core.management import call_command

    from tests.benchmarks.crowd import write

    call_command("migrate", verbosity=0)
    if not Path(os.environ["PODIUM_HOME"], "filled").exists():
        write(teams=teams, each=each)
        Path(os.environ["PODIUM_HOME"], "filled").touch()
    deeds = requests()
    cpu: dict[str, list[float]] = {name: [] for name in deeds}
    for turn in range(ROUNDS + 1):  # alternating, so that all meet the same machine; the first of each is cold
        for name, deed in deeds.items():
            started = process_time()
            deed()
            if turn:
                cpu[name].append(process_time() - started)
    bare = median(cpu["bare"])
    return {name: {"milliseconds": 1000 * median(each), "ratio": median(each) / bare} for name, each in cpu.items()}


def requests() -> dict[str, Callable[[], None]]:
    """Return what is measured, by name."""
    from django.core.cache import caches
    from django.test import Client

    from server.accounts.models import User
    from server.submissions.models import Submission

    anybody, reader = Client(), Client()
    reader.force_login(User.objects.get(username="reader"))
    own = Submission.objects.filter(team__memberships__user__username="reader").latest("received_at").pk
    page, api = "/challenges/crowd/leaderboard", "/api/v1/challenges/crowd/phases/main/leaderboard"

    def ask(client: Client, address: str, *, fresh: bool = False, status: int = 200) -> Callable[[], None]:
        client.get(address)  # the first page of a member sets the cookie that the next one depends on
        validator = client.get(address).headers.get("ETag", "") if status == 304 else ""

        def deed() -> None:
            if fresh:
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
        "page at a time": ask(anybody, f"{page}?at=2026-04-01T00:00", fresh=True),
        "API at a time": ask(anybody, f"{api}?at=2026-04-01T00:00:00Z", fresh=True),
        "last page": ask(anybody, f"{page}?page=999999", fresh=True),
        "overview": ask(anybody, "/challenges/crowd/"),
        "home": ask(reader, "/"),
        "submission": ask(reader, f"/submissions/{own}/"),
        "panel": ask(reader, f"/submissions/{own}/panel"),
        "submission in the API": ask(reader, f"/api/v1/submissions/{own}"),
        "own submissions": ask(reader, "/api/v1/challenges/crowd/phases/main/submissions"),
        "own submissions, page": ask(reader, "/challenges/crowd/submissions"),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
