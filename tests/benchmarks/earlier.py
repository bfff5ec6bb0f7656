"""Measures the cost of recording a score, relative to an earlier version that stored no leaderboard entries."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import psycopg

from tests.flows.postgres import SERVER, own_database

ROOT = Path(__file__).parents[2]
EARLIER = "c85bc0e"  # The last commit before leaderboard entries were stored in the database.
PROGRAMS = ("crowd.py", "recording.py")
# A Django app that only the earlier version of Podium uses. It contains only static files, so an empty package replaces
# it.
NO_LONGER_INSTALLED = "drf_spectacular_sidecar"


def multiples(folder: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the cost of recording a score, relative to the earlier version, keyed by database and kind of score.

    Each value is a pair: the ratio of the current cost to the earlier cost, and the current cost in milliseconds.
    """
    source = unpacked(folder / EARLIER)
    found = {}
    for vendor in ("SQLite", "PostgreSQL") if has_postgres() else ("SQLite",):
        with databases(vendor) as (earlier, present):
            pairs = [(recorded(source, earlier), recorded(ROOT, present)) for _ in range(rounds)]
            for kind in pairs[0][0]:
                ratio = median(new[kind] / old[kind] for old, new in pairs)
                found[f"{vendor}, {kind}"] = ratio, median(new[kind] for _, new in pairs)
    return found


def unpacked(place: Path) -> Path:
    """Unpack the earlier version of the service, add the current benchmark programs, and return the folder."""
    if not place.exists():
        packed = subprocess.run(["git", "archive", EARLIER], cwd=ROOT, capture_output=True, check=True).stdout
        place.mkdir(parents=True)
        subprocess.run(["tar", "x"], cwd=place, input=packed, check=True)
    (place / NO_LONGER_INSTALLED).mkdir(exist_ok=True)
    (place / NO_LONGER_INSTALLED / "__init__.py").touch()
    for program in PROGRAMS:
        target = place / "tests" / "benchmarks" / program
        target.write_bytes(Path(__file__).with_name(program).read_bytes())
    return place


def has_postgres() -> bool:
    try:
        psycopg.connect(SERVER, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def databases(vendor: str) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield environment variables for the earlier and the current version, each with its own empty database."""
    with ExitStack() as stack:
        homes = [stack.enter_context(TemporaryDirectory(prefix="podium-recording-")) for _ in range(2)]
        found = [{"PODIUM_HOME": home} for home in homes]
        if vendor == "PostgreSQL":
            found = [one | {"DATABASE_URL": stack.enter_context(own_database(migrated=False))} for one in found]
        yield found[0], found[1]


def recorded(version: Path, environment: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.recording"]
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(command, cwd=version, env=kept | environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))
