"""Tests when the jobs that compute ties and rank intervals are due, who claims them, and what happens after a crash."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from server.challenges.models import Phase
from server.clock import database_now
from server.leaderboards.models import Board, ComparedEntry, Comparison, Entry
from server.leaderboards.queries import board
from server.leaderboards.services import comparisons
from server.leaderboards.validators import entity_tag
from server.submissions import queue
from server.submissions.models import Submission
from server.submissions.services.sweeping import sweep
from server.submissions.signals import announce
from tests.conftest import InlineQueue, Make, compare_boards
from tests.server.conftest import Scored
from tests.server.leaderboards.conftest import VALUES
from worker import tasks
from worker.comparisons.board_rows import RULES
from worker.comparisons.comparing import compared

pytestmark = pytest.mark.django_db


def job() -> Comparison:
    """Return the database row that schedules the comparison for the public leaderboard."""
    return Comparison.objects.get(board__kind="public")


def let_lease_expire() -> None:
    leased = Comparison.objects.filter(lease_token__isnull=False)
    assert leased.update(lease_until=database_now() - timedelta(seconds=1)) == 1


def is_due() -> bool:
    """Return whether a comparison is due within an hour, not counting the daily comparison."""
    later = database_now() + timedelta(hours=1)
    Comparison.objects.exclude(day=None).update(day=later.date())
    return Comparison.objects.due(later).exists()


def claimed() -> Comparison:
    one = comparisons.claim_next()
    assert one is not None
    return one


def test_the_sweeper_wakes_a_worker_for_a_leaderboard_that_has_changed(
    scored: Scored, phase: Phase, broker: InlineQueue
) -> None:
    sweep()
    assert broker.sent_for_boards == []
    scored(phase, 0.5)
    sweep()
    assert broker.sent_for_boards == [Board.objects.get(kind="public").pk]


def test_many_changes_are_followed_by_one_comparison(changed: Board, broker: InlineQueue, scored: Scored) -> None:
    """Each run of the periodic sweeper sends a message to the workers. Only the first message leads to a comparison."""
    for number in range(3):
        scored(changed.phase, number / 10)
        sweep()
    assert broker.sent_for_boards == [changed.pk] * 3
    for message in broker.sent_for_boards[:]:
        tasks.compare(message)
    assert ComparedEntry.objects.filter(entry__board=changed).count() == 5
    assert Board.objects.get(pk=changed.pk).version == 6, "5 scores were recorded, and one comparison"


def test_no_second_message_is_sent_while_one_waits(
    changed: Board, broker: InlineQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "waiting", lambda kind: 1)
    comparisons.wake()
    assert broker.sent_for_boards == []


def test_a_late_comparison_gets_one_urgent_message(
    changed: Board, broker: InlineQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    monkeypatch.setattr(queue, "enqueue", lambda kind, key, urgent=False: sent.append((key, urgent)))
    comparisons.wake()
    monkeypatch.setattr(queue, "waiting", lambda kind: 1)  # Simulate a message that is still in the queue.
    Comparison.objects.update(enqueued_at=F("enqueued_at") - comparisons.LATE - timedelta(seconds=1))
    comparisons.wake()
    comparisons.wake()
    assert sent == [(changed.pk, False), (changed.pk, True)]


def test_only_one_worker_gets_a_comparison(changed: Board) -> None:
    assert claimed().board == changed
    assert comparisons.claim_next() is None


def test_a_comparison_is_not_due_again_until_the_leaderboard_changes(changed: Board, scored: Scored) -> None:
    one = claimed()
    assert comparisons.record(one, compared(one), seconds=0.0)
    assert not is_due()
    scored(changed.phase, 0.5)
    assert is_due()


def test_a_leaderboard_is_not_compared_again_at_once(changed: Board, scored: Scored) -> None:
    one = claimed()
    comparisons.record(one, compared(one), seconds=10.0)
    scored(changed.phase, 0.5)
    assert comparisons.claim_next() is None
    pause = job().not_before - database_now()
    assert timedelta(seconds=85) < pause <= timedelta(seconds=90)


def test_after_a_worker_is_lost_another_one_makes_the_comparison(changed: Board) -> None:
    lost = claimed()
    let_lease_expire()
    second = claimed()
    assert second.attempts == 2
    assert not comparisons.record(lost, compared(lost), seconds=0.0)
    assert not ComparedEntry.objects.exists()
    assert comparisons.record(second, compared(second), seconds=0.0)
    assert ComparedEntry.objects.count() == 2
    assert job().attempts == 0


def test_a_comparison_that_loses_its_workers_is_given_up_until_the_next_change(
    changed: Board, scored: Scored, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        claimed()
        let_lease_expire()
    assert comparisons.claim_next() is None
    assert not is_due()
    assert job().failure == "its worker stopped 3 times"
    assert "alarm" in caplog.text
    scored(changed.phase, 0.5)
    assert is_due()


def test_a_change_during_a_comparison_is_compared_afterwards(changed: Board, scored: Scored) -> None:
    one = claimed()
    found = compared(one)
    scored(changed.phase, 0.1)
    comparisons.record(one, found, seconds=0.0)
    assert ComparedEntry.objects.count() == 2
    assert is_due()


def test_a_row_that_was_replaced_during_a_comparison_is_not_kept(
    changed: Board, replicated: Callable[..., Submission]
) -> None:
    one = claimed()
    found = compared(one)
    replicated(changed.phase, [value + 0.1 for value in VALUES], team=Entry.objects.first().team)
    comparisons.record(one, found, seconds=0.0)
    assert ComparedEntry.objects.filter(entry__valid_until=None).count() == ComparedEntry.objects.count() == 1


def test_a_comparison_raises_the_version_only_if_it_finds_something_new(changed: Board) -> None:
    before = Board.objects.get(pk=changed.pk).version
    compare_boards()
    assert Board.objects.get(pk=changed.pk).version == before + 1
    # Simulate a change that does not affect the comparison, such as a new team name.
    Board.objects.filter(pk=changed.pk).update(version=F("version") + 1)
    compare_boards()
    assert Board.objects.get(pk=changed.pk).version == before + 2
    assert not is_due()


def test_a_new_comparison_alone_changes_the_entity_tag(changed: Board, phase: Phase) -> None:
    shown = partial(board, phase, split="public", viewer=AnonymousUser())
    before = entity_tag(shown())
    Comparison.objects.filter(board=changed).update(version=changed.version, day=database_now().date())
    compare_boards()
    assert set(ComparedEntry.objects.values_list("entry__board__kind", flat=True)) == {"all"}
    assert entity_tag(shown()) == before
    Comparison.objects.filter(board=changed).update(version=0)
    compare_boards()
    assert entity_tag(shown()) != before


@pytest.mark.parametrize(("rules", "is_reused"), [(RULES, True), ("2:", False)])
def test_results_of_other_rules_are_computed_again(changed: Board, rules: str, is_reused: bool) -> None:
    """The two teams have equal scores, so they are tied. The stored result is changed to see whether it is reused."""
    compare_boards()
    second = ComparedEntry.objects.filter(entry__board=changed, tied=True)
    assert second.update(tied=False, next_up_tied=False) == 1
    Comparison.objects.filter(board=changed).update(content=rules, version=0)
    compare_boards()
    assert second.exists() != is_reused


def test_a_leaderboard_under_ladder_feedback_is_never_compared(
    make: Make, replicated: Callable[..., Submission]
) -> None:
    phase = make.phase(feedback="ladder")
    (submission := replicated(phase, VALUES)).evaluations.update(published=F("pk"))
    announce(phase, [submission.team_id])
    assert Entry.objects.filter(board__kind="published").exists()
    compare_boards()
    assert set(ComparedEntry.objects.values_list("entry__board__kind", flat=True)) == {"public", "all"}


def test_a_leaderboard_with_another_signature_is_not_compared(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5, signature="of the next truth")
    compare_boards()
    assert not ComparedEntry.objects.exists()


def test_after_a_change_of_decimals_the_entries_are_compared_again(changed: Board, phase: Phase) -> None:
    compare_boards()
    assert job().content != ""
    phase.feedback, phase.feedback_decimals = Phase.Feedback.ROUNDED, 2
    phase.save()
    assert not ComparedEntry.objects.exists()
    assert job().content == ""
    assert is_due()


def test_a_worker_that_compares_with_the_previous_decimals_writes_nothing(changed: Board, phase: Phase) -> None:
    one = claimed()
    phase.feedback, phase.feedback_decimals = Phase.Feedback.ROUNDED, 2
    phase.save()
    assert not comparisons.record(one, compared(one), seconds=0.0)


def test_recording_a_score_does_not_write_to_the_comparison(changed: Board, scored: Scored) -> None:
    with CaptureQueriesContext(connection) as queries:
        scored(changed.phase, 0.5)
    assert not [query for query in queries if "leaderboards_comparison" in query["sql"]]
