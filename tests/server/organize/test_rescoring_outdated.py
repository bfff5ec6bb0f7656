"""A rescoring cannot be applied if the settings of its phase have changed since it began."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from server.challenges.models import Phase, Truth
from server.challenges.shaping import is_outdated, shaping_settings
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.submissions.models import Rerun
from tests.server.organize.test_rescoring import add, lines, newer

__all__ = ["newer"]  # pytest finds this imported fixture by name.
pytestmark = pytest.mark.usefixtures("inline_queue")

OTHER = {"iou_threshold": 0.75}


def refusal_of(service: Any, **asked: Any) -> str:
    with pytest.raises(Refused) as caught:
        service(**asked)
    return caught.value.code


def test_after_an_import_with_other_parameters_a_rescoring_is_not_applied(
    bundle: Any, run: Any, quick_podium: Any, make: Any, scored: Any
) -> None:
    """As long as only baselines have been submitted, an import can still change the parameters of a phase."""
    run()
    phase = Phase.objects.get()
    bundle.write("phases/main/truth/images.csv", "ImageID\na\nb\n")
    begun = rescoring.start(phase=phase, by=None, truth=add(phase, version=2))
    bundle.sheet(phase="    parameters: {iou_threshold: 0.75}\n")
    run()
    after = Phase.objects.get()
    assert refusal_of(rescoring.apply, rescoring=begun, by=None) == "rescoring_outdated"
    assert Phase.objects.get().signature == after.signature
    assert not Rerun.objects.exists()


def test_no_submission_is_scored_for_an_outdated_rescoring(phase: Any, newer: Truth, scored: Any) -> None:
    begun = rescoring.start(phase=phase, by=None, truth=newer)
    Phase.objects.filter(pk=phase.pk).update(parameters=OTHER)
    scored(phase, 0.5)
    assert refusal_of(rescoring.catch_up, rescoring=begun) == "rescoring_outdated"
    assert not Rerun.objects.exists()


def test_an_outdated_rescoring_can_be_discarded_or_begun_again(phase: Any, newer: Truth, scored: Any) -> None:
    scored(phase, 0.5)
    before = lines(phase)
    rescoring.start(phase=phase, by=None, truth=newer)
    Phase.objects.filter(pk=phase.pk).update(parameters=OTHER)
    again = rescoring.start(phase=Phase.objects.get(pk=phase.pk), by=None, truth=newer)
    assert Rescoring.objects.get() == again
    assert "iou:0.75" in again.signature
    Phase.objects.filter(pk=phase.pk).update(parameters={})
    rescoring.discard(phase=phase, by=None)
    assert not Rescoring.objects.exists()
    assert lines(phase) == before


BEFORE = [("challenges", "0014_truth_sha256_unique_in_phase")]


@pytest.fixture
def migrated(make: Any) -> Any:
    """Return a function that migrates the database back to the migration BEFORE and forward again.

    At the migration BEFORE, ground truths do not have the column `prepared_with`.
    """

    def forward() -> None:
        newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
        MigrationExecutor(connection).migrate(newest)

    def migrate() -> None:
        MigrationExecutor(connection).migrate(BEFORE)
        forward()

    yield migrate
    forward()


@pytest.mark.django_db(transaction=True)
def test_after_the_migration_only_active_truths_are_up_to_date(make: Any, migrated: Any) -> None:
    given: tuple[dict[str, Any], ...] = ({}, {"expand_hierarchy": False}, {"expand_hierarchy": "no"})
    phases = [make.phase(parameters=parameters) for parameters in given]
    phases.append(make.phase(track="openimages-relationships"))
    for phase in phases:
        make.truth(phase)
    migrated()
    assert {truth.prepared_with is None for truth in Truth.objects.filter(active=False)} == {True}
    for phase in phases:
        assert [is_outdated(truth, phase) for truth in phase.truths.order_by("version")] == [True, False]
        assert phase.truths.get(active=True).prepared_with == shaping_settings(phase)
