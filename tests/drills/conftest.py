"""Fixtures for drills. Each drill starts its own service and disturbs it. A table at the end lists all results."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.postgres import own_database
from tests.flows.running import Running
from tests.flows.taking_part import make_bundle, open_challenge

# These folders contain programs that misbehave on purpose, and an app that only drill 35 installs. They are not tests.
collect_ignore = ["bent", "releases"]

Open = Callable[..., Running]
Words = tuple[str, ...]
Figures = Callable[[str], None]

# Settings of the service in drills. The times are shorter than in production, so that crashes are noticed within
# seconds.
FAST = {
    "LEASE_SECONDS": 3,
    "HEARTBEAT_SECONDS": 1,
    "SWEEP_SECONDS": 1,
    "RESEND_SECONDS": 2,
    "STOP_SECONDS": 2,
    "INTERVAL_REPLICATES": 50,
    "API_REQUESTS_PER_MINUTE": 1_000_000,
    "API_ANONYMOUS_REQUESTS_PER_MINUTE": 1_000_000,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--drills", type=int, metavar="LAST", help="run only the drills up to this number")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "drill(number): the number of the drill")


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Return a function that prints the measurements of a drill on one line, and adds them to the final table."""

    def say(line: str) -> None:
        request.node.user_properties.append(("figures", line))
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print(f"\n    {line}", flush=True)

    return say


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a challenge bundle and a submission that is scored very quickly."""
    return make_bundle(tmp_path_factory.mktemp("small"), images=30)


@pytest.fixture(scope="session")
def medium(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a challenge bundle and a submission that takes some time to score."""
    return make_bundle(tmp_path_factory.mktemp("medium"), images=1500)


@pytest.fixture
def postgres() -> Iterator[str]:
    with own_database() as url:
        yield url


@pytest.fixture
def opened(tmp_path: Path, small: Path) -> Iterator[Open]:
    """Yield a function that starts a service with a challenge and participants.

    `opened(people=…, bundle=…, up=…, home=…, NAME=value)`: `people` are usernames, `bundle` is a challenge bundle, and
    `home` is the folder of the service's data. `up` contains arguments for `tests.drills.bent.altered`. The other names
    are settings. All processes are stopped at the end.
    """
    started: list[Running] = []

    def begin(
        people: Words = ("ada",),
        bundle: Path = small,
        up: Words = (),
        home: Path = tmp_path / "home",
        **more: Any,
    ) -> Running:
        home.mkdir()
        service = Running(home, **{**FAST, **more})
        if up:
            service.up = ("-m", "tests.drills.bent.altered", *up)
        started.append(service)
        service.start()
        open_challenge(service, bundle, *people)
        return service

    try:
        yield begin
    finally:
        for service in started:
            service.stop()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run drills in the order of their numbers, after all other collected tests."""
    for item in items:
        if number := number_of(item):
            item.user_properties.append(("drill", number))
            item.add_marker(pytest.mark.enable_socket)
    items.sort(key=number_of)
    if last := config.getoption("--drills"):
        items[:] = [item for item in items if number_of(item) <= last]


def number_of(item: pytest.Item) -> int:
    marker = item.get_closest_marker("drill")
    return marker.args[0] if marker else 0


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the final table: the number, result, duration, name and measurements of each drill."""
    ended = [
        (outcome, report, said)
        for outcome in ("passed", "failed", "error", "skipped")
        for report in terminalreporter.stats.get(outcome, [])
        if "drill" in (said := dict(getattr(report, "user_properties", ())))
        and (report.when == "call" or outcome in ("error", "skipped"))
    ]
    if not ended:
        return
    terminalreporter.section("drills")
    for outcome, report, said in sorted(ended, key=lambda one: (one[2]["drill"], one[1].nodeid)):
        name = report.nodeid.partition("::")[2].removeprefix("test_").replace("_", " ")
        why = report.longrepr[2] if outcome == "skipped" and isinstance(report.longrepr, tuple) else ""
        line = said.get("figures", why.removeprefix("Skipped: "))
        verdict = {"passed": "ok", "failed": "FAILED", "error": "ERROR", "skipped": "NOT RUN"}[outcome]
        terminalreporter.write_line(f"{said['drill']:>3} {verdict:<8}{report.duration:>6.1f} s  {name}: {line}")
