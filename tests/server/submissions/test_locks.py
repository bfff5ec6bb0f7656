"""Row locks are always taken in the same order, and a submission cannot change while it is being cancelled."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from server.challenges.models import Phase, Team, Truth
from server.organize.services import rescoring
from server.submissions.models import QuotaEntry, Status, Submission
from server.submissions.services import leases, lifecycle, quota, reruns
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api
from tests.server.organize.test_rescoring import done, newer, two

__all__ = ["newer", "two"]  # pytest finds these imported fixtures by name.

LOCK = "/* locked */"
NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def written_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace row locks with SQL comments that tests can detect, because SQLite has no row locks."""
    monkeypatch.setattr(connection.features, "has_select_for_update", True)
    monkeypatch.setattr(connection.features, "has_select_for_no_key_update", True)
    monkeypatch.setattr(connection.ops, "for_update_sql", lambda **about: LOCK)


class Order:
    """Records the order in which rows are locked or deleted, as a list of table names."""

    def __init__(self) -> None:
        self.tables: list[str] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if LOCK in sql or sql.startswith("DELETE"):
            self.tables += re.findall(r'\bFROM "?(\w+)', sql)[:1]
        return execute(sql, params, many, context)


@pytest.mark.parametrize("change", [{"note": "n"}, {"final": True}, {"note": "n", "final": True}])
def test_a_change_locks_the_team_before_the_audit_log(api: Api, make: Make, change: dict[str, Any]) -> None:
    submission = make.submission(make.phase(), status=Status.SCORED, finished_at=NOW)
    # The first request creates an API token. This writes to the audit log, so it must happen before locks are recorded.
    api.get("challenges", user=submission.user)
    with connection.execute_wrapper(order := Order()):
        answer = api.patch(f"submissions/{submission.pk}", change, user=submission.user)
    assert answer.status_code == 200
    assert (order.tables[:2], "audit_head" in order.tables) == (["challenges_phase", "challenges_team"], True)


SEVERAL_CHANGES: dict[str, Callable[[Api, Client, Submission], Any]] = {
    "submission": lambda api, client, one: api.patch(
        f"submissions/{one.pk}", {"note": "n", "final": True}, user=one.user
    ),
    "form": lambda api, client, one: client.post(f"/submissions/{one.pk}/edit", {"note": "n", "final": "true"}),
    "team": lambda api, client, one: api.patch(
        f"challenges/{one.team.challenge.slug}/team", {"shown": True, "name": "Crows"}, user=one.user
    ),
}


@pytest.mark.parametrize("change", SEVERAL_CHANGES)
def test_several_changes_lock_leaderboards_before_the_audit_log(
    api: Api, client: Client, team: Team, phase: Phase, scored: Scored, change: str
) -> None:
    submission = scored(phase, 0.5, team=team, private=0.5)
    scored(phase, 0.5, team=team, private=0.25)
    # The first request creates an API token. This writes to the audit log, so it must happen before locks are recorded.
    api.get("challenges", user=submission.user)
    with connection.execute_wrapper(order := Order()):
        answer = SEVERAL_CHANGES[change](api, client, submission)
    assert answer.status_code in (200, 302)
    first_entry = order.tables.index("audit_head")
    assert "leaderboards_board" in order.tables[:first_entry]
    assert "leaderboards_board" not in order.tables[first_entry:]


@pytest.mark.usefixtures("inline_queue")
def test_a_rescoring_is_applied_with_the_submissions_locked_before_their_reruns(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    for submission in two:
        done(submission, 0.9)
    # Request further jobs that score the submissions again. Applying the rescoring deletes these queued jobs.
    reruns.request(two, truth=phase.truth)
    with connection.execute_wrapper(order := Order()):
        rescoring.apply(rescoring=begun, by=None)
    assert order.tables.index("submissions_submission") < order.tables.index("submissions_rerun")


class Sweeper:
    """Simulates a sweeper that requeues a running submission while it is being cancelled.

    It does so as late as possible, just before the cancellation locks the submission's row.
    """

    is_done = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        about = not self.is_done and '"submissions_submission"' in sql
        if about and LOCK in sql:
            self.requeue()
        found = execute(sql, params, many, context)
        if about and not self.is_done and sql.startswith("UPDATE"):
            self.requeue()
        return found

    def requeue(self) -> None:
        self.is_done = True
        running = Submission.objects.filter(status=Status.RUNNING)
        running.update(status=Status.QUEUED, stage="", **leases.NO_LEASE)


def test_a_submission_can_be_cancelled_while_the_sweeper_requeues_it(make: Make) -> None:
    submission = make.submission(make.phase())
    quota.charge(submission, now=NOW)
    running = leases.claim(Submission, submission.pk)
    assert running is not None
    with connection.execute_wrapper(sweeper := Sweeper()):
        cancelled = lifecycle.cancel(submission=running, by=submission.user)
    assert (sweeper.is_done, cancelled.status) == (True, Status.CANCELLED)
    assert (
        sum(QuotaEntry.objects.values_list("amount", flat=True)) == 1
        # The quota is not refunded, because scoring had already begun.
    )
