"""A ground truth that was prepared with different parameters is prepared again before it is used for scoring."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.problems import PreparedOtherwise
from evaluator.request import ScoringRequest
from evaluator.scoring import score
from server.challenges.models import Phase, Truth
from server.challenges.shaping import is_outdated, shaping_settings
from server.errors import Refused
from server.organize.services import rescoring, truths
from server.organize.services.importing import import_bundle
from server.submissions.models import Evaluation, Rerun, Submission
from tests.worker.test_damaged_truth import FILE, SHEET, evaluated, phase, submit
from worker.truths import restore

__all__ = ["phase", "submit"]  # pytest finds these imported fixtures by name.
pytestmark = pytest.mark.usefixtures("inline_queue")

BOXES = "phases/main/truth/boxes.csv"
OTHER = SHEET.replace("public: 0.5}", "public: 0.5}, parameters: {expand_hierarchy: false}")


@pytest.fixture
def changed(phase: Phase, tmp_path: Path, django_capture_on_commit_callbacks: Any) -> Phase:
    """Import a second ground truth with a changed parameter, so that the first prepared file is outdated."""
    boxes = tmp_path / BOXES
    head, *rows = boxes.read_text().splitlines()
    (tmp_path / "first.csv").write_text(boxes.read_text())
    boxes.write_text("\n".join([head, *rows[::2]]) + "\n")
    (tmp_path / "challenge.yaml").write_text(OTHER)
    with django_capture_on_commit_callbacks(execute=True):
        import_bundle(path=tmp_path, by=None)
    return Phase.objects.get()


def first(phase: Phase) -> Truth:
    return phase.truths.get(version=1)


def test_a_rescoring_to_an_earlier_version_uses_the_current_parameters(
    changed: Phase, submit: Callable[[], Submission], tmp_path: Path, inline_queue: Any
) -> None:
    evaluated(submit())
    assert is_outdated(first(changed), changed)
    begun = rescoring.start(phase=changed, by=None, truth=first(changed))
    assert first(changed).prepared_with == shaping_settings(changed)
    inline_queue.work_later()
    assert not rescoring.unscorable(begun).exists()
    rescoring.apply(rescoring=begun, by=None)
    found = Evaluation.objects.get(truth=first(changed))
    assert found.signature == Phase.objects.get().signature
    assert "hierarchy:none" in found.signature
    values = dict(found.scores.values_list("split", "value"))
    request = ScoringRequest(
        changed.track, Path(first(changed).prepared.path), tmp_path / FILE, parameters={"expand_hierarchy": False}
    )
    assert values == {name: split.metrics["mAP"] for name, split in score(request).splits.items()}


def test_a_file_that_was_prepared_with_other_parameters_is_restored_by_the_worker(
    changed: Phase, submit: Callable[[], Submission]
) -> None:
    """An active ground truth can have an outdated file, because another process may store one after a rescoring."""
    truth = first(changed)
    truths.activate(truth)
    submission = evaluated(submit())
    assert (submission.status, submission.fault) == ("scored", "")
    assert not is_outdated(first(changed), changed)


def test_a_worker_that_waited_for_another_finds_a_file_with_the_current_parameters(
    changed: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    truths.bring_up_to_date(first(changed))
    monkeypatch.setattr("worker.truths.prepare_again", lambda truth: pytest.fail("the truth was prepared again"))
    restore(first(changed), PreparedOtherwise("prepared with expand_hierarchy=True"))


def test_a_known_truth_that_is_added_again_gets_a_file_with_the_current_parameters(
    changed: Phase, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    (tmp_path / BOXES).write_text((tmp_path / "first.csv").read_text())
    before = first(changed).prepared.name
    with django_capture_on_commit_callbacks(execute=True):
        added = truths.add(phase=changed, path=(tmp_path / BOXES).parent, by=None)
    assert (added.version, is_outdated(added, changed)) == (1, False)
    assert added.prepared.name != before
    assert not added.prepared.storage.exists(before)


def test_a_rescoring_to_a_version_that_cannot_be_prepared_again_is_refused(changed: Phase) -> None:
    Path(first(changed).source.path).write_bytes(b"not a zip")
    with pytest.raises(Refused, match="Add this ground truth again") as refusal:
        rescoring.start(phase=changed, by=None, truth=first(changed))
    assert refusal.value.code == "invalid"
    assert not Rerun.objects.exists()
    assert not changed.rescorings.exists()
