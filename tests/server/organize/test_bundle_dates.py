"""The dates of a bundle's phases must be in order and within those of its challenge."""

from datetime import datetime

import pytest

from evaluator.bundle import InvalidBundle, Mistakes
from server.leaderboards import periods
from server.organize.services import bundles
from server.organize.services.importing import import_bundle
from tests.conftest import Make
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
        ("freeze_at: 2026-01-31", 8),  # The public leaderboard must not be frozen before the phase opens.
        ("opens_at: 2026-03-01\n    freeze_at: 2026-02-28", 9),
    ],
)
def test_dates_of_a_phase_outside_its_challenge_are_a_mistake(bundle: BundleFolder, lines: str, line: int) -> None:
    bundle.sheet(challenge="opens_at: 2026-02-01\ncloses_at: 2026-06-01\n", phase=f"    {lines}\n")
    assert mistakes_of(bundle) == [("bad_dates", "challenge.yaml", line)]


def test_a_date_that_cannot_be_rounded_up_is_refused(bundle: BundleFolder) -> None:
    bundle.sheet(phase="    freeze_at: 9999-12-31T23:59:59.999Z\n")
    assert mistakes_of(bundle) == [("bad_value", "challenge.yaml", 6)]
    bundle.sheet(phase="    freeze_at: 9999-12-31T23:59:59Z\n")
    (phase,) = bundles.read(bundle.path).phases
    assert phase.freeze_at is not None
    assert periods.after(phase.freeze_at) > phase.freeze_at


@pytest.mark.parametrize("lines", ["opens_at: 2026-02-01", "closes_at: 2026-06-01", "opens_at: 2026-05-31"])
def test_dates_of_a_phase_inside_its_challenge_are_read(bundle: BundleFolder, lines: str) -> None:
    bundle.sheet(challenge="opens_at: 2026-02-01\ncloses_at: 2026-06-01\n", phase=f"    {lines}\n")
    name, day = lines.split(": ")
    assert getattr(bundles.read(bundle.path).phases[0], name) == datetime.fromisoformat(f"{day}T00:00:00Z")


def test_challenge_dates_in_the_wrong_order_are_reported_once(bundle: BundleFolder) -> None:
    bundle.sheet(challenge="opens_at: 2026-06-01\ncloses_at: 2026-02-01\n")
    assert mistakes_of(bundle) == [("bad_dates", "challenge.yaml", 4)]


@pytest.mark.parametrize(
    ("lines", "warned"),
    [
        ("freeze_at: 2099-05-31", []),
        ("freeze_at: 2099-06-01", ["no_effect"]),
        ("closes_at: 2099-05-01\n    freeze_at: 2099-05-31", ["no_effect"]),
        ("freeze_at: 2099-06-02\n    reveal: manual", []),  # It is in force until the private scores are revealed.
    ],
)
def test_a_freeze_that_has_no_effect_causes_a_warning(bundle: BundleFolder, lines: str, warned: list[str]) -> None:
    dates = "opens_at: 2099-02-01T00:00Z\ncloses_at: 2099-06-01T00:00Z\n"
    bundle.sheet(challenge=f"{dates}contact: a@example.org\n", phase=f"    {lines}\n")
    mistakes = Mistakes()
    bundles.read_with_mistakes(bundle.path, mistakes)
    assert not mistakes.found
    assert [(one.code, one.column) for one in mistakes.warnings if one.code != "no_time_zone"] == [
        (code, "phases[0].freeze_at") for code in warned
    ]


def test_a_freeze_before_the_import_of_a_challenge_that_opens_then_is_refused(
    make: Make, quick_podium: list[tuple[str, ...]], bundle: BundleFolder
) -> None:
    bundle.sheet(phase="    freeze_at: 2026-01-01T00:00:00Z\n")
    with pytest.raises(InvalidBundle) as caught:
        import_bundle(path=bundle.path, by=None)
    assert [(one.code, one.line) for one in caught.value.problems] == [("bad_dates", 6)]
