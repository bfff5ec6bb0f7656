"""A job that is postponed because of a fault in stored files waits longer after each attempt."""

import pytest
from pytest_django import Settings

from server.submissions.models import Submission
from server.submissions.services import leases
from tests.conftest import InlineQueue, Make


@pytest.fixture
def running(make: Make, inline_queue: InlineQueue) -> Submission:
    claimed = leases.claim(Submission, make.submission(make.phase()).pk)
    assert claimed is not None
    return claimed


def test_each_pause_is_twice_as_long_as_the_one_before_up_to_an_hour(running: Submission, settings: Settings) -> None:
    settings.RESEND_SECONDS = 30
    pauses = []
    for running.postponed in (0, 1, 2, 6, 7, 32_767):
        pauses.append(leases.pause_of(running).total_seconds())
    assert pauses == [30, 60, 120, 1920, 3600, 3600]


def test_postponed_attempts_are_counted_separately(running: Submission) -> None:
    assert leases.postpone(running, reason="")
    again = leases.claim(Submission, running.pk)
    assert again is not None
    assert (again.postponed, again.attempts) == (1, 1)
