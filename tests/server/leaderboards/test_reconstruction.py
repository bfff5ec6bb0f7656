"""A migration reconstructs leaderboard entries and their history from scores recorded before entries were stored."""

from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db import connection

from server.audit.services import record
from server.challenges.models import Phase
from server.leaderboards.models import Board, BoardTerms, Entry
from server.leaderboards.queries import board
from server.leaderboards.services.verification import verify
from server.submissions.models import Evaluation
from tests.server.conftest import Scored, evaluate

DAY = timedelta(days=1)
NOW = datetime.now(UTC)
ANYBODY = AnonymousUser()

migration = import_module("server.leaderboards.migrations.0002_reconstructed_history")


def reconstruct() -> None:
    """Delete all leaderboards and their entries, and run the migration that reconstructs them."""
    for model in (Entry, Board, BoardTerms):
        model.objects.all().delete()
    with connection.schema_editor() as editor:
        migration.reconstruct(apps, editor)


def shown(phase: Phase, at: datetime | None = None) -> list[tuple[int | None, str, float]]:
    return [(row.rank, row.team, row.score) for row in board(phase, split="public", at=at, viewer=ANYBODY).rows]


@pytest.fixture
def entries(phase: Phase, make: Any, scored: Scored) -> Phase:
    a, b = make.team(phase.challenge, name="A"), make.team(phase.challenge, name="B")
    for team, score, days in ((a, 0.5, 9), (b, 0.6, 8), (a, 0.7, 7), (b, None, 6), (b, 0.1, 5)):
        scored(phase, score, private=score, team=team, at=NOW - days * DAY, final=score == 0.1)
    scored(phase, 0.65, team=make.team(phase.challenge, name="Prior", is_baseline=True), at=NOW - 4 * DAY)
    return phase


@pytest.mark.django_db(transaction=True)
def test_entries_agree_with_submissions_and_the_history_with_the_times_of_evaluations(entries: Phase) -> None:
    reconstruct()
    assert list(verify(entries)) == []
    assert shown(entries) == [(1, "A", 0.7), (None, "Prior", 0.65), (2, "B", 0.6)]
    assert shown(entries, NOW - 8.5 * DAY) == [(1, "A", 0.5)]
    assert shown(entries, NOW - 7.5 * DAY) == [(1, "B", 0.6), (2, "A", 0.5)]
    assert shown(entries, NOW - 100 * DAY) == []
    for at, is_reconstructed in ((NOW - 5 * DAY, True), (None, False)):
        assert board(entries, split="public", at=at, viewer=ANYBODY).reconstructed == is_reconstructed


@pytest.mark.django_db(transaction=True)
def test_before_a_rescoring_leaderboards_have_scores_with_the_previous_signature(entries: Phase) -> None:
    for one in Evaluation.objects.all():
        values = {score.split: {"mAP": 0.3} for score in one.scores.all()}
        evaluate(one.submission, values, signature="new", created_at=NOW - 2 * DAY)
    Phase.objects.filter(pk=entries.pk).update(signature="new")
    detail = {"signature": "new", "truth": 2}
    entry = record(actor=None, action="rescoring.applied", subject=f"phase {entries}", detail=detail)
    type(entry).objects.filter(pk=entry.pk).update(at=NOW - DAY)
    reconstruct()
    phase = Phase.objects.get(pk=entries.pk)
    assert list(verify(phase)) == []
    assert {score for _, _, score in shown(phase)} == {0.3}
    assert shown(phase, NOW - 1.5 * DAY) == [(1, "A", 0.7), (None, "Prior", 0.65), (2, "B", 0.6)]


@pytest.mark.django_db(transaction=True)
def test_the_migration_can_be_undone(entries: Phase) -> None:
    with connection.schema_editor() as editor:
        migration.forget(apps, editor)
    assert not Entry.objects.exists()
