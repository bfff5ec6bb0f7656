"""The rows of the section Leaderboards: the cost of requests for pages and to the API that read a leaderboard."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.earlier import has_postgres
from tests.benchmarks.rows import FOLDER, ROOT, Goal, Row
from tests.flows.postgres import own_database

EACH, TEAMS, MANY_TEAMS = 50, 2_000, 20_000
REACH = {
    **{"page, uncached": 20, "page, cached": 4, "page, 304": 2},
    **{"page of a member, 304": 2, "API, 304": 2},
    **{"page at a time": 30, "page of a member at a time": 30, "last page": 30},
    **{"search": 30, "search at a time": 30, "sort by another metric": 30, "baselines": 30},
    **{"overview": 10, "home": 10, "submission": 10, "panel": 10, "submission in the API": 10},
    **{"submissions of all teams": 30, "failed submissions of all teams": 30, "live page of a phase": 30},
    **{"own submissions": 30, "own submissions, page": 30},
}
# The maximum factor by which the cost of a request may grow if there are ten times as many teams.
GROWTH = 2


def leaderboards() -> Iterator[Row]:
    """Measure requests for a leaderboard of 2,000 teams with SQLite and, if it is installed, with PostgreSQL.

    With BENCH_MANY_TEAMS=1, a leaderboard of 20,000 teams is also read, by one reader and by 50 readers at the same
    time. Filling this leaderboard takes 20 minutes. SQLite databases are kept in FOLDER for later runs.
    """
    many = os.environ.get("BENCH_MANY_TEAMS") == "1"
    for vendor in ("SQLite", "PostgreSQL") if has_postgres() else ("SQLite",):
        with filled(TEAMS, vendor) as database:
            measured = read("boards", TEAMS, database)
            readers = {} if many else read("readers", TEAMS, database)
        yield from costs(vendor, measured)
        if many:
            with filled(MANY_TEAMS, vendor) as database:
                larger, readers = (read(program, MANY_TEAMS, database) for program in ("boards", "readers"))
            growth = {name: larger[name]["ratio"] / measured[name]["ratio"] for name in REACH}
            worst = max(growth, key=growth.__getitem__)
            title = f"{vendor}, cost with {MANY_TEAMS:,} teams / with {TEAMS:,}, largest"
            yield Goal(title, GROWTH, GROWTH).met_by(growth[worst], worst)
        teams = MANY_TEAMS if many else TEAMS
        behind = f"{readers['board']:.2f} s / {readers['bare']:.2f} s, {readers['requests']:,.0f} requests"
        title = f"{vendor}, {teams:,} teams, 50 readers"
        yield Goal(f"{title}: p99 / p99 of a bare JSON view", 20, 20).met_by(readers["ratio"], behind)
        goal = Goal(f"{title}: growth of a web process in MB", 30, 30)
        yield goal.met_by(readers["grown"], "in 80 s, after 30 s of warm-up")


def costs(vendor: str, measured: Any) -> Iterator[Row]:
    for name, reach in REACH.items():
        title = f"{vendor}, {TEAMS:,} teams, {name}: CPU / CPU of a bare JSON view"
        yield Goal(title, reach, reach).met_by(measured[name]["ratio"], f"{measured[name]['milliseconds']:.1f} ms")


@contextmanager
def filled(teams: int, vendor: str) -> Iterator[dict[str, str]]:
    """Yield environment variables that select a database. If it is empty, the first benchmark program fills it."""
    if vendor == "SQLite":
        home = FOLDER / f"boards-{teams}"
        home.mkdir(exist_ok=True)
        yield {"PODIUM_HOME": str(home)}
        return
    with TemporaryDirectory(prefix="podium-boards-") as empty, own_database(migrated=False) as url:
        yield {"PODIUM_HOME": empty, "DATABASE_URL": url}


def read(program: str, teams: int, database: dict[str, str]) -> Any:
    """Run one of the programs that read a leaderboard, and return its output."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "PODIUM_HOME")}
    command = [sys.executable, "-m", f"tests.benchmarks.{program}", str(teams), str(EACH), database["PODIUM_HOME"]]
    given = kept | {name: value for name, value in database.items() if name != "PODIUM_HOME"}
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
