"""Tests the helpers for plain SQL statements."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from server.challenges.models import Phase, Team
from server.sql import insert, select, update
from server.submissions.models import Evaluation, Rerun, Score
from tests.conftest import Make
from tests.server.conftest import Scored

pytestmark = pytest.mark.django_db


def test_an_empty_list_of_keys_matches_no_row(make: Make) -> None:
    make.team(make.challenge())
    assert select("SELECT id FROM challenges_team WHERE id IN ({})", ()) == []
    assert len(select("SELECT id FROM challenges_team WHERE id IN ({})", (), [Team.objects.get().pk])) == 1


def test_only_the_given_rows_are_updated(make: Make) -> None:
    challenge, now = make.challenge(), datetime.now(UTC)
    one, other = make.team(challenge), make.team(challenge)
    update(Team, [other.pk], name="Owls", served_at=now)
    update(Team, [], name="Nobody")
    assert (Team.objects.get(pk=other.pk).name, Team.objects.get(pk=other.pk).served_at) == ("Owls", now)
    assert (Team.objects.get(pk=one.pk).name, Team.objects.get(pk=one.pk).served_at) == (one.name, None)


def test_rows_are_inserted_with_their_ids(phase: Phase, scored: Scored) -> None:
    evaluation = Evaluation.objects.get(submission=scored(phase, 0.5))
    rows = [Score(evaluation=evaluation, split="public", metric=f"{number}", value=None) for number in range(120)]
    insert(rows)
    inserted = Score.objects.filter(pk__in=[row.pk for row in rows])
    assert sorted(inserted, key=lambda row: int(row.metric)) == rows
    assert [(row.evaluation_id, row.split, row.value) for row in inserted] == [(evaluation.pk, "public", None)] * 120


def test_a_row_with_the_same_unique_values_is_renewed(make: Make) -> None:
    submission = make.submission(make.phase())
    now = datetime.now(UTC)
    keys = []
    for failure in ("first", "second"):
        row = Rerun(submission=submission, truth=submission.phase.truths.get(), enqueued_at=now, failure=failure)
        insert([row], unique=("submission", "truth", "purpose"), renewed=("failure",))
        keys.append(row.pk)
    assert Rerun.objects.get().failure == "second"
    assert keys == [Rerun.objects.get().pk] * 2


def test_a_row_that_is_held_keeps_its_values(make: Make) -> None:
    submission = make.submission(make.phase())
    now = datetime.now(UTC)
    common = {"submission": submission, "truth": submission.phase.truths.get(), "enqueued_at": now}
    held = Rerun.objects.create(**common, attempts=2, lease_token=uuid4(), lease_until=now)
    row = Rerun(**common)
    insert([row], unique=("submission", "truth", "purpose"), renewed=("attempts",), held_by="lease_token")
    assert (row.pk, Rerun.objects.get().attempts) == (held.pk, 2)


def test_inserting_no_rows_runs_no_statement(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        insert([])
