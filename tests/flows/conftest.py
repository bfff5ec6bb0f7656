"""Fixtures that run the real service in a temporary folder, with a challenge and a participant."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.running import Running
from tests.flows.taking_part import make_bundle, open_challenge

Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a service with the given settings: `start(NAME=value)`.

    All processes are stopped at the end of the test.
    """
    started: list[Running] = []

    def begin(home: Path = tmp_path / "home", **settings_of_it: Any) -> Running:
        home.mkdir(parents=True)
        started.append(Running(home, **settings_of_it))
        return started[-1].start()

    yield begin
    for service in started:
        service.stop()


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a challenge bundle and a submission `predictions.csv`, which takes a long time to score."""
    return make_bundle(tmp_path_factory.mktemp("bundle"), images=1500)


@pytest.fixture(scope="module")
def service(predictions: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a service with a challenge and a participant. Job leases are short, so that crashes are soon noticed."""
    home = tmp_path_factory.mktemp("service") / "home"
    home.mkdir()
    short = {"LEASE_SECONDS": 3, "HEARTBEAT_SECONDS": 1, "SWEEP_SECONDS": 1, "RESEND_SECONDS": 2, "STOP_SECONDS": 1}
    running = Running(home, **short).start()
    try:
        open_challenge(running, predictions, "ada")
        yield running
    finally:
        running.stop()
