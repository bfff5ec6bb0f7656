"""Importing a ground truth again does not create a second version with the same content.

A rescoring against such a duplicate would give each submission a second score, so that the submission counts twice.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, connection, transaction

from server.challenges.models import Phase, Truth
from server.leaderboards.queries import board
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.submissions.models import Evaluation, Explanation, Replicates, Rerun
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored, evaluate, refresh_boards
from tests.server.organize.conftest import BundleFolder

Import = Callable[..., list[str]]
IMAGES = "phases/main/truth/images.csv"


@pytest.fixture
def taken_back(
    bundle: BundleFolder, make: Make, quick_podium: list[tuple[str, ...]], inline_queue: InlineQueue, run: Import
) -> list[str]:
    """Import a ground truth, then a different one, then the first one again. Return the messages of the last import."""
    run()
    bundle.write(IMAGES, "ImageID\na\nb\n")
    run()
    (bundle.path / IMAGES).unlink()
    return run()


def test_a_truth_that_is_imported_again_is_the_same_version(taken_back: list[str]) -> None:
    assert "truth version 1, " in taken_back[0]
    assert list(Truth.objects.values_list("version", "active", "used")) == [(2, False, True), (1, True, True)]


def test_a_version_that_an_import_replaced_is_not_the_default_of_a_rescoring(taken_back: list[str]) -> None:
    phase = Phase.objects.get()
    assert rescoring.default_truth(phase, None) == phase.truth


def test_after_a_rescoring_to_the_truth_that_was_imported_twice_every_submission_counts_once(
    taken_back: list[str], make: Make, scored: Scored
) -> None:
    phase = Phase.objects.get()
    team = make.team(phase.challenge)
    for score in (0.5, 0.6):
        scored(phase, score, team=team)
    begun = rescoring.start(phase=phase, by=None, truth=rescoring.version_of(phase, 1))
    rescoring.apply(rescoring=begun, by=None)
    (row,) = board(Phase.objects.get(), split="public", viewer=AnonymousUser()).rows
    assert (row.score, row.entries) == (0.6, 2)


def test_a_submission_has_only_one_evaluation_with_a_given_signature(make: Make, scored: Scored) -> None:
    submission = scored(make.phase(), 0.5)
    other = add(submission.phase, version=2, sha256="0" * 64)
    with pytest.raises(IntegrityError), transaction.atomic():
        evaluate(submission, {}, truth=other)


def add(phase: Phase, *, version: int, sha256: str) -> Truth:
    return Truth.objects.create(phase=phase, version=version, sha256=sha256, prepared="a.podium", source="a.zip")


CONSTRAINTS = ((Truth, "truth_sha256_unique_in_phase"), (Evaluation, "one_evaluation_per_signature"))


@pytest.fixture
def before(make: Make) -> Iterator[Callable[[], None]]:
    """Remove the database constraints against duplicate ground truths until the end of the test.

    Return a function that runs the migration that merges duplicates.
    """
    kept = {model: list(model._meta.constraints) for model, _ in CONSTRAINTS}
    for model, name in CONSTRAINTS:
        (removed,) = [one for one in kept[model] if one.name == name]
        model._meta.constraints = [one for one in kept[model] if one.name != name]
        with connection.schema_editor() as editor:
            editor.remove_constraint(model, removed)

    def migrate() -> None:
        migration = import_module("server.organize.migrations.0002_truths_of_one_sha256_are_one_version")
        with transaction.atomic():
            migration.merge(apps, None)
        refresh_boards()

    yield migrate
    migrate()
    for model, name in CONSTRAINTS:
        model._meta.constraints = kept[model]
        with connection.schema_editor() as editor:
            editor.add_constraint(model, next(one for one in kept[model] if one.name == name))


@pytest.mark.django_db(transaction=True)
def test_versions_with_equal_sha256_are_merged_without_losing_evaluations(
    make: Make, scored: Scored, before: Callable[[], None]
) -> None:
    phase = make.phase()
    active = phase.truths.get()
    Truth.objects.filter(pk=active.pk).update(version=3)
    first, other = (add(phase, version=version, sha256=sha) for version, sha in ((1, active.sha256), (2, "0" * 64)))
    twice, once = scored(phase, 0.5, interval=(0.4, 0.6), truth=first), scored(phase, 0.6, truth=first)
    mine = twice.evaluations.get()
    again = evaluate(twice, {"public": {"mAP": 0.5}}, truth=active, published=mine)
    Replicates.objects.create(evaluation=again, split="public", seed=0, count=1, values=b"\0" * 8)
    Explanation.objects.create(evaluation=mine, split="public", content=b"why")
    Evaluation.objects.filter(pk=mine.pk).update(published=mine)
    begun = Rescoring.objects.create(phase=phase, truth=first, signature=phase.signature, started_at=datetime.now(UTC))
    for truth, submission in ((first, once), (first, twice), (active, twice)):
        Rerun.objects.create(submission=submission, truth=truth, enqueued_at=datetime.now(UTC))
    before()
    assert list(phase.truths.values_list("pk", "active", "used")) == [(active.pk, True, True), (other.pk, False, True)]
    kept = twice.evaluations.get()
    assert (kept, kept.published, kept.truth) == (again, again, active)
    assert kept.explanations.get().content == b"why"
    assert once.evaluations.get().truth == active
    assert Rescoring.objects.get(pk=begun.pk).truth == active
    assert set(Rerun.objects.values_list("submission", "truth")) == {(one.pk, active.pk) for one in (once, twice)}
    rows = board(phase, split="public", viewer=AnonymousUser()).rows
    assert [(row.score, row.entries) for row in rows] == [(0.6, 1), (0.5, 1)]
