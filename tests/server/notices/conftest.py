"""Fixtures for the tests of notices, which tell users about events."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.notices.models import Kind, MailChoice, Notice, Progress
from server.notices.services import deriving
from server.submissions.models import Submission
from tests.conftest import Make

Ended = Callable[..., Submission]


def kinds_of(user: User) -> list[str]:
    """Return the event kind of each of a user's notices, oldest first."""
    return [*Notice.objects.filter(user=user).order_by("pk").values_list("event__kind", flat=True)]


def choose_all(user: User) -> None:
    MailChoice.objects.bulk_create(MailChoice(user=user, kind=kind) for kind in Kind)


@pytest.fixture
def begun(db: None) -> datetime:
    """Search for events for the first time, so that earlier events cause no notices. Return the time of this search."""
    deriving.derive()
    return Progress.objects.get().until


@pytest.fixture
def ended(make: Make, begun: datetime) -> Ended:
    """Return a function that creates a submission whose scoring has just ended: `ended(phase, team, "rejected")`."""

    def end(phase: Phase, team: Team, status: str, *, minutes: float = 3, **fields: object) -> Submission:
        now = timezone.now()
        extra = {"failure": "It broke.", "fault": "platform"} if status == "failed" else {}
        received = now - timedelta(minutes=minutes)
        return make.submission(phase, team, status=status, received_at=received, finished_at=now, **{**extra, **fields})

    return end
