"""Fixtures for drills. Each drill damages its own service; a table at the end shows all drills and measurements."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.postgres import own_database
from tests.flows.running import Running
from tests.flows.taking_part import make_bundle, open_challenge

collect_ignore = ["bent"]  # imported by the processes that it is for, and nowhere else

Open = Callable[..., Running]
Words = tuple[str, ...]
Figures = Callable[[str], None]

# Crashes are noticed in seconds. Intervals are shorter than in production; every guard is as it is there.
FAST = {
    "LEASE_SECONDS": 3,
    "HEARTBEAT_SECONDS": 1,
    "SWEEP_SECONDS": 1,
    "RESEND_SECONDS": 2,
    "STOP_SECONDS": 2,
    "INTERVAL_REPLICATES": 50,
    "API_REQUESTS_PER_MINUTE": 1_000_000,
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "drill(number): which of the drills it is, by the number in the list")


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Say in one line what was measured; the table at the end repeats it."""

    def say(line: str) -> None:
        request.node.user_properties.append(("figures", line))
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print(f"\n    {line}", flush=True)

    return say


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A challenge whose submissions are scored at once."""
    return make_bundle(tmp_path_factory.mktemp("small"), images=30)


@pytest.fixture(scope="session")
def medium(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A challenge whose submissions take a moment to score."""
    return make_bundle(tmp_path_factory.mktemp("medium"), images=1500)


@pytest.fixture
def postgres() -> Iterator[str]:
    with own_database() as url:
        yield url


@pytest.fixture
def opened(tmp_path: Path, small: Path) -> Iterator[Open]:
    """`opened(people=…, bundle=…, up=…, home=…, NAME=value)`: a service with a challenge that people take part in.

    `up` are words for `tests.drills.bent.altered`. Whatever still runs afterwards is stopped.
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the order of the list; whatever else is collected with them comes first."""
    for item in items:
        if number := number_of(item):
            item.user_properties.append(("drill", number))
            item.add_marker(pytest.mark.enable_socket)
    items.sort(key=number_of)


def number_of(item: pytest.Item) -> int:
    marker = item.get_closest_marker("drill")
    return marker.args[0] if marker else 0


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line a drill: number, name, how it ended, how long it took, what was measured."""
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
