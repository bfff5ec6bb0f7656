"""Recording a score writes only changes, and the number of SQL statements does not depend on earlier scores."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from server.leaderboards.models import Board, Entry
from server.leaderboards.services.verification import verify
from server.submissions.services import lifecycle
from tests.server.leaderboards.random_history import SPLITS, History

pytestmark = pytest.mark.usefixtures("inline_queue", "db")


@pytest.fixture
def history() -> History:
    one = History(1)
    one.teams = one.teams[1:2]  # Remove all teams except one, which is not a baseline.
    return one


def record(history: History, value: float) -> int:
    """Record the score of a submission, and return the number of SQL statements that were needed."""
    submission, truth = history.claimed(), history.truths[0]
    history.values[submission.pk, truth.pk] = dict.fromkeys(SPLITS, value)
    report = history.report(submission, truth)
    with CaptureQueriesContext(connection) as seen:
        assert lifecycle.record(submission, truth=truth, report=report, cpu_seconds=0.1)
    assert list(verify(history.current())) == []
    return len(seen)


def test_the_number_of_statements_does_not_depend_on_the_earlier_scores(history: History) -> None:
    few = [record(history, value) for value in (0.5, 0.6, 0.1)]
    for _ in range(20):
        record(history, 0.55)
    assert [record(history, value) for value in (0.7, 0.1)] == few[1:]


def test_a_score_that_is_not_the_best_writes_no_entry(history: History) -> None:
    for value in (0.5, 0.6):
        record(history, value)
    before, versions = Entry.objects.count(), Board.objects.get(kind="public").version
    record(history, 0.4)
    assert Entry.objects.count() == before
    assert set(Entry.objects.present().values_list("submissions", flat=True)) == {3}
    # The leaderboard's version increases, because the leaderboard shows each team's number of submissions.
    assert Board.objects.get(kind="public").version == versions + 1
