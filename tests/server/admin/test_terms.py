"""The admin rejects the same values as an import of a challenge bundle.

To end a phase or reveal its private scores, staff must type the name of the phase.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from server.challenges.models import Challenge, Phase
from tests.conftest import Make

NOW = datetime.now(UTC).replace(microsecond=0)
PAST, SOON, FUTURE = (NOW + timedelta(hours=hours) for hours in (-24, 1, 48))
OPENED = datetime(2026, 1, 1, tzinfo=UTC)
PHASE = {"title": "x", "position": 0, "quota_per_day": 5, "attempts_per_day": 20, "finals": 2, "feedback": "exact"}
CHALLENGE = {"title": "T", "visibility": "public", "team_max_size": 5, "registration": "open"}


pytestmark = pytest.mark.phase(challenge={"slug": "animals", "opens_at": OPENED}, slug="main")


def at(name: str, moment: datetime | None) -> dict[str, str]:
    """Return form data for a date and time, which are two separate fields in the admin."""
    if moment is None:
        return {}
    return {f"{name}_0": f"{moment:%Y-%m-%d}", f"{name}_1": f"{moment:%H:%M:%S}"}


@pytest.fixture
def staff(make: Make) -> Client:
    browser = Client()
    browser.force_login(make.user(username="root", is_staff=True, is_superuser=True))
    return browser


def errors(staff: Client, row: str, **form: Any) -> dict[str, Any]:
    """Save a row in the admin and return the form errors by field. If the row was saved, there are no errors."""
    answer = staff.post(reverse(f"admin:challenges_{row._meta.model_name}_change", args=[row.pk]), form)
    return {} if answer.status_code == 302 else dict(answer.context["adminform"].form.errors)


@pytest.mark.parametrize(
    ("field", "value"),
    [("finals", 0), ("finals", 101), ("quota_per_day", 0), ("quota_total", 0), ("attempts_per_day", 0)],
)
def test_a_number_that_a_bundle_may_not_have_is_refused(staff: Client, phase: Phase, field: str, value: int) -> None:
    assert set(errors(staff, phase, **{**PHASE, field: value})) == {field}


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"feedback": "exact", "feedback_decimals": 3}, "feedback_decimals"),
        ({"feedback": "rounded"}, "feedback"),
        ({"feedback": "rounded", "feedback_decimals": 0}, "feedback_decimals"),
        ({"feedback": "ladder", "feedback_classes": "on"}, "feedback_classes"),
    ],
)
def test_feedback_settings_that_a_bundle_may_not_have_are_refused(
    staff: Client, phase: Phase, policy: Any, field: str
) -> None:
    assert field in errors(staff, phase, **{**PHASE, **policy})


def test_ladder_feedback_without_intervals_is_refused(staff: Client, phase: Phase, settings: Settings) -> None:
    settings.INTERVAL_REPLICATES = 0
    assert set(errors(staff, phase, **{**PHASE, "feedback": "ladder"})) == {"feedback"}


def test_a_maximum_team_size_of_zero_is_refused(staff: Client, phase: Phase) -> None:
    form = {**CHALLENGE, **at("opens_at", OPENED), "team_max_size": 0}
    assert "team_max_size" in errors(staff, phase.challenge, **form)


@pytest.mark.parametrize(
    ("opens_at", "closes_at", "field"),
    [
        (None, FUTURE + timedelta(days=9), "closes_at"),  # The phase would close after the challenge.
        (OPENED - timedelta(days=1), None, "opens_at"),  # The phase would open before the challenge.
        (PAST, PAST - timedelta(days=1), "closes_at"),  # The phase would close before it opens.
    ],
)
def test_a_phase_with_dates_outside_its_challenge_is_refused(
    staff: Client, phase: Phase, opens_at: datetime | None, closes_at: datetime | None, field: str
) -> None:
    Challenge.objects.update(closes_at=FUTURE)
    form = {**PHASE, **at("opens_at", opens_at), **at("closes_at", closes_at), "confirm": "main"}
    assert set(errors(staff, phase, **form)) == {field}


def test_a_challenge_that_ends_before_its_phase_is_refused(staff: Client, phase: Phase) -> None:
    Phase.objects.update(closes_at=FUTURE + timedelta(days=9))
    form = {**CHALLENGE, **at("opens_at", OPENED), **at("closes_at", FUTURE)}
    assert "Change the phase first" in str(errors(staff, phase.challenge, **form)["__all__"])


def test_a_challenge_that_somebody_has_joined_does_not_become_a_draft(staff: Client, phase: Phase, make: Make) -> None:
    form = {**CHALLENGE, **at("opens_at", OPENED), "visibility": "draft"}
    team = make.team(phase.challenge, make.user())
    assert set(errors(staff, phase.challenge, **form)) == {"visibility"}
    team.delete()
    assert not errors(staff, phase.challenge, **form)


def test_a_phase_that_would_end_at_once_needs_its_name_typed(staff: Client, phase: Phase) -> None:
    form = {**PHASE, **at("closes_at", PAST)}
    told = errors(staff, phase, **form)
    assert "phase main would end immediately, and everyone could read its private scores" in str(told["confirm"])
    assert "type main here" in str(told["confirm"])
    assert set(errors(staff, phase, **form, confirm="animals")) == {"confirm"}
    assert not Phase.objects.get().has_closed(NOW)
    assert not errors(staff, phase, **form, confirm="main")
    assert Phase.objects.get().has_closed(NOW)


def test_a_challenge_that_would_end_at_once_needs_its_name_typed(staff: Client, phase: Phase) -> None:
    form = {**CHALLENGE, **at("opens_at", OPENED), **at("closes_at", PAST)}
    assert "phase main would end immediately" in str(errors(staff, phase.challenge, **form)["confirm"])
    assert Challenge.objects.get().closes_at is None
    assert not errors(staff, phase.challenge, **form, confirm="animals")


@pytest.mark.parametrize("where", ["phase", "challenge"])
def test_an_end_within_a_day_that_is_earlier_than_before_needs_its_name_typed(
    staff: Client, phase: Phase, where: str
) -> None:
    row, form = (phase, PHASE) if where == "phase" else (phase.challenge, {**CHALLENGE, **at("opens_at", OPENED)})
    form = {**form, **at("closes_at", SOON)}
    assert "phase main would end within 24 hours" in str(errors(staff, row, **form)["confirm"])
    assert not errors(staff, row, **form, confirm=row.slug)
    assert Phase.objects.get().closing == SOON


@pytest.mark.parametrize("margin", ["1e-300", "0.009", "0", "11"])
def test_a_margin_outside_the_allowed_range_is_refused(staff: Client, phase: Phase, margin: str) -> None:
    form = {**PHASE, "feedback": "ladder", "ladder_standard_errors": margin, "confirm": "main"}
    assert "ladder_standard_errors" in errors(staff, phase, **form)
    assert Phase.objects.get().feedback == "exact"
    assert not errors(staff, phase, **{**form, "ladder_standard_errors": "0.01"})


@pytest.mark.parametrize("shows", [{}, {"feedback_classes": "on"}])
def test_feedback_that_shows_more_needs_its_name_typed(staff: Client, phase: Phase, shows: dict[str, str]) -> None:
    assert not errors(staff, phase, **{**PHASE, "feedback": "ladder", "ladder_standard_errors": 2})
    form = {**PHASE, **shows}
    assert "would show participants more than before" in str(errors(staff, phase, **form)["confirm"])
    assert not errors(staff, phase, **form, confirm="main")


def test_a_later_end_needs_no_confirmation(staff: Client, phase: Phase) -> None:
    assert not errors(staff, phase, **PHASE, **at("closes_at", FUTURE))


def test_making_a_private_challenge_public_needs_its_name_typed(staff: Client, phase: Phase) -> None:
    Challenge.objects.update(visibility="private")
    form = {**CHALLENGE, **at("opens_at", OPENED)}
    assert "public instead of private" in str(errors(staff, phase.challenge, **form)["confirm"])
    assert not errors(staff, phase.challenge, **form, confirm="animals")


def test_a_phase_can_be_reopened_until_somebody_has_read_its_private_scores(staff: Client, phase: Phase) -> None:
    Phase.objects.update(closes_at=PAST)
    assert not errors(staff, phase, **PHASE, **at("closes_at", FUTURE))


@pytest.mark.parametrize("where", ["phase", "challenge"])
def test_a_phase_cannot_be_reopened_after_somebody_has_read_its_private_scores(
    staff: Client, phase: Phase, client: Client, where: str
) -> None:
    (Phase if where == "phase" else Challenge).objects.update(closes_at=PAST)
    assert client.get("/api/v1/challenges/animals/phases/main/leaderboard?split=private").status_code == 200
    assert Phase.objects.get().revealed_at is not None
    row, form = (phase, PHASE) if where == "phase" else (phase.challenge, {**CHALLENGE, **at("opens_at", OPENED)})
    told = errors(staff, row, **form, **at("closes_at", FUTURE), confirm=row.slug)
    assert "it cannot be reopened" in str(told["__all__"])
