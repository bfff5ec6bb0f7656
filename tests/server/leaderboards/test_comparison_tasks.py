"""Tests the task of a worker that compares the entries of a leaderboard, and what happens if it fails."""

from collections.abc import Callable

import pytest
from celery import current_app

from server.leaderboards.models import Board, ComparedEntry, Comparison
from server.leaderboards.services.comparisons import Found
from server.submissions import queue
from tests.conftest import InlineQueue
from tests.server.leaderboards.test_comparisons import claimed, is_due, job
from worker import tasks

pytestmark = pytest.mark.django_db


@pytest.fixture
def comparing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Return a function that makes every comparison of entries raise the given error."""

    def make_raise(error: BaseException) -> None:
        def failing(comparison: Comparison) -> Found:
            raise error

        monkeypatch.setattr(tasks, "compared", failing)

    return make_raise


def test_the_message_names_a_task_of_the_worker() -> None:
    assert current_app.tasks[queue.QUEUES[Comparison].task] == tasks.compare


def test_the_task_stores_what_it_found(changed: Board, broker: InlineQueue) -> None:
    tasks.compare(changed.pk)
    assert ComparedEntry.objects.count() == 2
    assert Comparison.objects.filter(board=changed, lease_token=None, attempts=0).exists()


def test_an_unexpected_error_is_tried_again_and_then_given_up(
    changed: Board, broker: InlineQueue, comparing: Callable[[BaseException], None]
) -> None:
    comparing(RuntimeError("a bug"))
    for attempt in (1, 2, 3):
        assert is_due()
        Comparison.objects.filter(board=changed).update(not_before=None)
        with pytest.raises(RuntimeError):
            tasks.compare(changed.pk)
        assert job().attempts == attempt % 3
    assert not is_due()
    assert job().failure == "RuntimeError while comparing"


def test_without_enough_memory_a_comparison_is_given_up_at_once(
    changed: Board, broker: InlineQueue, comparing: Callable[[BaseException], None]
) -> None:
    comparing(MemoryError())
    tasks.compare(changed.pk)
    assert not is_due()


def test_a_worker_that_is_stopped_releases_its_comparison(
    changed: Board, broker: InlineQueue, comparing: Callable[[BaseException], None]
) -> None:
    comparing(SystemExit())
    with pytest.raises(SystemExit):
        tasks.compare(changed.pk)
    assert Comparison.objects.filter(board=changed, lease_token=None, attempts=0, not_before=None).exists()
    assert claimed().attempts == 1
