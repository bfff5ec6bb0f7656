"""Teams take turns, small files are scored before large ones, and a team can have two files scored at the same time.

A message only wakes a worker. The database determines which job the worker claims.
"""

import gzip
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep

import pytest
from django.core.files.base import ContentFile
from pytest_django import Settings

from server.challenges.models import Phase
from server.submissions import queue
from server.submissions.models import Rerun, Status, Submission
from server.submissions.services import leases, lifecycle, scheduling
from server.submissions.small_files import is_small
from tests.conftest import InlineQueue, Make

NOW = datetime.now(UTC)


def served(count: int, *, large: bool = True) -> list[str]:
    """Claim and score the given number of submissions. Return the names of their teams in order of claiming."""
    names = []
    for _ in range(count):
        claimed = scheduling.claim_next(Submission, large=large)
        names.append(claimed.team.name if claimed else "")
        # Wait, so that no two teams are served in the same millisecond, which is the resolution of SQLite's clock.
        sleep(0.002)
        Submission.objects.running().update(status=Status.SCORED, finished_at=NOW, stage="", **leases.NO_LEASE)
    return names


def test_a_team_with_twenty_files_does_not_delay_the_only_file_of_another_team(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    many, one, late = (make.team(phase.challenge, name=name) for name in ("many", "one", "late"))
    queued(many, 20)
    queued(one)
    queued(late, 2)
    assert served(6) == ["many", "one", "late", "many", "late", "many"]


def test_a_team_that_submits_again_waits_for_teams_that_were_not_served_since(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    first, second = (make.team(phase.challenge, name=name) for name in ("first", "second"))
    queued(first, 5)
    assert served(1) == ["first"]
    queued(second)
    assert served(2) == ["second", "first"]


def test_the_third_file_of_a_team_waits_even_if_workers_are_free(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    queued(make.team(phase.challenge), 3)
    claimed = [scheduling.claim_next(Submission, large=True) for _ in range(3)]
    assert [one is not None for one in claimed] == [True, True, False]


def test_a_slot_that_becomes_free_is_used(make: Make, phase: Phase, queued: Callable[..., list[Submission]]) -> None:
    queued(make.team(phase.challenge), 3)
    first, _ = scheduling.claim_next(Submission, large=True), scheduling.claim_next(Submission, large=True)
    lifecycle.reject(first, findings={})
    assert scheduling.claim_next(Submission, large=True) is not None


def test_claiming_a_job_checks_the_limit_of_its_team(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    claimed = [leases.claim(Submission, one.pk) for one in queued(make.team(phase.challenge), 3)]
    assert [one is not None for one in claimed] == [True, True, False]
    assert Submission.objects.queued().get().attempts == 0


def test_each_team_has_its_own_limit(make: Make, phase: Phase, queued: Callable[..., list[Submission]]) -> None:
    for _ in range(2):
        queued(make.team(phase.challenge), 3)
    assert sum(scheduling.claim_next(Submission, large=True) is not None for _ in range(6)) == 4


def test_a_small_file_is_scored_before_earlier_large_ones(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    queued(make.team(phase.challenge, name="large"), 3)
    queued(make.team(phase.challenge, name="small"), small=True)
    assert served(2) == ["small", "large"]


def test_the_process_for_small_files_takes_no_large_file(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    queued(make.team(phase.challenge), 2)
    assert scheduling.claim_next(Submission, large=False) is None


def test_the_process_for_small_files_serves_only_idle_teams(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    busy, idle = (make.team(phase.challenge, name=name) for name in ("busy", "idle"))
    first, second = queued(busy, 2, small=True)
    assert scheduling.claim_next(Submission, large=True) == first
    assert scheduling.claim_next(Submission, large=False) is None
    assert leases.claim(Submission, second.pk, large=False) is None
    (others,) = queued(idle, small=True)
    assert scheduling.claim_next(Submission, large=False) == others


def test_a_small_file_that_exceeds_its_time_is_requeued_as_large(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    (submission,) = queued(make.team(phase.challenge), small=True)
    leases.release_as_large(scheduling.claim_next(Submission, large=False))
    submission.refresh_from_db()
    assert (submission.status, submission.attempts, submission.small) == ("queued", 0, False)
    assert scheduling.claim_next(Submission, large=False) is None
    assert scheduling.claim_next(Submission, large=True) == submission


def test_a_file_is_not_claimed_before_its_pause_is_over(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]]
) -> None:
    queued(make.team(phase.challenge), not_before=datetime.now(UTC) + timedelta(minutes=1))
    assert scheduling.claim_next(Submission, large=True) is None
    Submission.objects.update(not_before=datetime.now(UTC) - timedelta(seconds=1))
    assert scheduling.claim_next(Submission, large=True).not_before is None


@pytest.mark.parametrize(("messages", "sent"), [(0, 1), (1, 0), (None, 0)])
def test_a_worker_that_finishes_wakes_another_if_no_message_is_left(
    make: Make,
    phase: Phase,
    queued: Callable[..., list[Submission]],
    waiting: Callable[..., Rerun],
    inline_queue: InlineQueue,
    monkeypatch: pytest.MonkeyPatch,
    messages,
    sent: list[bytes],
) -> None:
    team = make.team(phase.challenge)
    (first,), later = queued(team), waiting(team)
    monkeypatch.setattr(queue, "waiting", lambda kind: messages)
    scheduling.wake(Submission)
    scheduling.wake(Rerun)
    assert (inline_queue.sent, inline_queue.sent_later) == ([first.pk] * sent, [later.pk] * sent)


@pytest.mark.parametrize(
    ("content", "small"),
    [
        (b"a" * 1000, True),
        (b"a" * 1001, False),
        (gzip.compress(b"a" * 1000, mtime=0), True),
        (gzip.compress(b"a" * 1001, mtime=0), False),  # The unpacked file is too large to count as small.
        (gzip.compress(b"a" * 10**6, mtime=0), False),
        # The unpacked size includes the second gzip member, which is too large.
        (gzip.compress(b"a", mtime=0) + gzip.compress(b"a" * 10**6, mtime=0), False),
        (gzip.compress(b"", mtime=0) * 20, False),
        (
            gzip.compress(b"a" * 100, mtime=0)[:-9],
            False,
        ),  # A truncated gzip file is not queued as small.
        (b"", True),
    ],
)
def test_whether_a_file_is_small_depends_on_its_unpacked_size(settings: Settings, content: bytes, small: Path) -> None:
    settings.SMALL_FILE_MAX_BYTES = 1000
    assert is_small(ContentFile(content)) == small
