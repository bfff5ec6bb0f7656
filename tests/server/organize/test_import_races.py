"""An import can change or remove a phase while a worker records a score for one of its baselines."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from server.challenges.models import Phase
from server.organize.services.consent import Consent
from server.submissions.models import Evaluation, Status
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make", "quick_podium", "inline_queue")

Import = Callable[..., list[str]]
BASELINE = "    baselines: [{name: Center, file: baselines/center.csv}]\n"
LOCK = "/* locked */"


class Recorder:
    """A worker that records a score during an import, just before the import locks the submission's row."""

    def __init__(self, phase: Phase) -> None:
        self.submission = phase.submissions.get()
        self.truth = phase.truths.get()
        self.is_done = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not self.is_done and '"submissions_submission"' in sql and LOCK in sql:
            # The statement `sql` locks the row of the submission. It would wait for a worker that is recording a score,
            # so record the score first.
            self.record()
        found = execute(sql, params, many, context)
        if not self.is_done and 'FROM "submissions_evaluation"' in sql:
            # The import has read the scores without first locking the submission, which is a bug. Record a score that
            # it misses, so that the test fails.
            self.record()
        return found

    def record(self) -> None:
        self.is_done = True
        now = datetime.now(UTC)
        fields = {"signature": "s", "report": {}, "cpu_seconds": 0.1, "created_at": now, "evaluator_version": "1.0.0"}
        Evaluation.objects.create(submission=self.submission, truth=self.truth, **fields)
        type(self.submission).objects.update(status=Status.SCORED, finished_at=now)


@pytest.fixture
def recording(bundle: BundleFolder, run: Import, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Import a bundle with a second phase. Return a simulated worker that scores its baseline during the next import.

    SQLite has no row locks. Instead, an SQL comment marks the statements that would lock rows. The worker records the
    score just before such a statement.
    """
    monkeypatch.setattr(connection.features, "has_select_for_update", True)
    monkeypatch.setattr(connection.features, "has_select_for_update_of", True)
    monkeypatch.setattr(connection.features, "has_select_for_no_key_update", True)
    monkeypatch.setattr(connection.features, "has_select_for_update_of", True)
    monkeypatch.setattr(connection.ops, "for_update_sql", lambda **about: LOCK)
    for name in ("boxes.csv", "image_labels.csv"):
        bundle.write(f"phases/second/truth/{name}", (bundle.path / "phases/main/truth" / name).read_bytes())
    bundle.write("phases/second/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=f"  - slug: second\n    track: openimages-detection\n{BASELINE}")
    run()
    return Recorder(Phase.objects.get(slug="second"))


def test_a_new_truth_while_a_baseline_is_recorded_is_imported(
    bundle: BundleFolder, run: Import, recording: Recorder
) -> None:
    bundle.write("phases/second/truth/images.csv", "ImageID\na\nb\n")
    with connection.execute_wrapper(recording):
        run()
    connection.check_constraints()
    assert (recording.is_done, Evaluation.objects.count()) == (True, 0)


def test_a_phase_is_removed_while_its_baseline_is_recorded(
    bundle: BundleFolder, run: Import, recording: Recorder
) -> None:
    bundle.sheet()
    with connection.execute_wrapper(recording):
        run(consent=Consent(reveal=True))
    connection.check_constraints()
    assert (recording.is_done, Evaluation.objects.count()) == (True, 0)
