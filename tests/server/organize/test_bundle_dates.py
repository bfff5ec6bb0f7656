"""The dates of a bundle's phases must be in order and within those of its challenge."""

from datetime import datetime

import pytest

from server.organize.services import bundles
from tests.server.organize.conftest import BundleFolder
from tests.server.organize.test_bundle_reading import mistakes_of


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        # A phase must close after its challenge opens. Otherwise, its private scores would be shown immediately.
        ("closes_at: 2026-01-31", 8),
        ("closes_at: 2026-02-01", 8),
        ("opens_at: 2026-06-01", 8),  # A phase must not open at the time when its challenge closes.
        ("opens_at: 2026-01-31", 8),
        ("closes_at: 2026-06-02", 8),
        ("opens_at: 2026-01-01\n    closes_at: 2026-01-31", 9),
    ],
)
def test_dates_of_a_phase_outside_its_challenge_are_a_mistake(bundle: BundleFolder, lines: str, line: int) -> None:
    bundle.sheet(challenge="opens_at: 2026-02-01\ncloses_at: 2026-06-01\n", phase=f"    {lines}\n")
    assert mistakes_of(bundle) == [("bad_dates", "challenge.yaml", line)]


@pytest.mark.parametrize("lines", ["opens_at: 2026-02-01", "closes_at: 2026-06-01", "opens_at: 2026-05-31"])
def test_dates_of_a_phase_inside_its_challenge_are_read(bundle: BundleFolder, lines: str) -> None:
    bundle.sheet(challenge="opens_at: 2026-02-01\ncloses_at: 2026-06-01\n", phase=f"    {lines}\n")
    name, day = lines.split(": ")
    assert getattr(bundles.read(bundle.path).phases[0], name) == datetime.fromisoformat(f"{day}T00:00:00Z")


def test_challenge_dates_in_the_wrong_order_are_reported_once(bundle: BundleFolder) -> None:
    bundle.sheet(challenge="opens_at: 2026-06-01\ncloses_at: 2026-02-01\n")
    assert mistakes_of(bundle) == [("bad_dates", "challenge.yaml", 4)]
