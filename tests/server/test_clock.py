"""A deadline includes its whole millisecond. For example, a deadline of 12:00:00.250 has passed at 12:00:00.251."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.base import ContentFile

from server.challenges import services
from server.clock import is_over
from server.errors import Refused
from server.pages.templatetags.components import next_change
from server.pages.views.home import is_open
from server.submissions.services import admission, intake
from tests.conftest import Make

DEADLINE = datetime(2026, 6, 1, 12, 0, 0, 250_400, tzinfo=UTC)
IN_TIME = [DEADLINE - timedelta(seconds=1), DEADLINE, DEADLINE.replace(microsecond=250_999)]
LATE = [DEADLINE.replace(microsecond=251_000), DEADLINE + timedelta(seconds=1)]
MOMENTS = [*((moment, False) for moment in IN_TIME), *((moment, True) for moment in LATE)]


@pytest.mark.parametrize(("now", "over"), MOMENTS)
def test_a_deadline_is_over_after_its_millisecond(now: datetime, over: bool) -> None:
    assert is_over(DEADLINE, now) == over


@pytest.mark.parametrize(("now", "over"), MOMENTS)
def test_deadlines_in_milliseconds_and_microseconds_agree(now: datetime, over: bool) -> None:
    assert is_over(DEADLINE.replace(microsecond=250_000), now) == over


def test_without_a_deadline_nothing_is_ever_over() -> None:
    assert not is_over(None, DEADLINE)


@pytest.mark.parametrize(("now", "over"), MOMENTS)
def test_phases_registration_and_pages_have_the_same_deadline_rule(make: Make, now: datetime, over: bool) -> None:
    challenge = make.challenge(opens_at=DEADLINE - timedelta(days=1), closes_at=DEADLINE)
    phase = make.phase(challenge, closes_at=DEADLINE)
    refused = []
    for ask in (lambda: admission.refuse_by_date(phase, now), lambda: services.refuse_late(challenge, now)):
        try:
            ask()
        except Refused as refusal:
            refused.append(refusal.code)
    assert refused == (["phase_closed", "registration_closed"] if over else [])
    assert phase.has_closed(now) == over
    assert is_open(challenge, now) != over
    assert next_change(challenge.opens_at, DEADLINE, now)["text"].split()[0] == ("Closed" if over else "Closes")


@pytest.mark.usefixtures("inline_queue")
def test_a_file_received_in_the_deadlines_own_millisecond_is_in_time(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    phase = make.phase(closes_at=DEADLINE, opens_at=DEADLINE - timedelta(days=1))
    team = make.team(phase.challenge)
    monkeypatch.setattr(intake, "database_now", lambda: DEADLINE.replace(microsecond=250_999))
    file = ContentFile(b"ImageId,PredictionString\n", "predictions.csv")
    user = team.memberships.get().user
    assert intake.submit(user=user, team=team, phase=phase, file=file).received_at > DEADLINE
