"""The worker restores a prepared ground truth that is damaged or was prepared by another version of the evaluator.

No submission fails because of such a ground truth.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings as configured
from pytest_django import Settings

from evaluator.problems import DamagedTruth
from evaluator.scoring import prepare
from evaluator.synthesis import synthesize
from server.challenges.models import Phase, Truth
from server.organize.services import truths
from server.organize.services.importing import import_bundle
from server.submissions.models import Evaluation, Rerun, Score, Submission
from server.submissions.services import quota
from tests.conftest import InlineQueue, Make
from worker import tasks
from worker.truths import restore

SHEET = """\
slug: flows
title: Flows
phases:
  - {slug: main, title: Main, track: openimages-detection, split: {public: 0.5}}
"""
# The salt is fixed. With a random salt, none of the 12 images would be public in 1 of 4,096 runs, so the import would
# fail.
SALT = "0123456789abcdef" * 2
FILE = "made/submissions/quality-0.60.csv"


@pytest.fixture
def phase(tmp_path: Path, make: Make) -> Phase:
    synthesize("openimages-detection", tmp_path / "made", images=12, qualities=(0.6,))
    (tmp_path / "phases" / "main").mkdir(parents=True)
    (tmp_path / "made" / "truth").rename(tmp_path / "phases" / "main" / "truth")
    (tmp_path / "phases" / "main" / "truth" / "salt.txt").write_text(f"{SALT}\n")
    (tmp_path / "challenge.yaml").write_text(SHEET)
    import_bundle(path=tmp_path, by=None)
    return Phase.objects.get()


@pytest.fixture
def submit(phase: Phase, make: Make, tmp_path: Path) -> Callable[[], Submission]:
    def submit() -> Submission:
        made: Submission = make.submission(phase, content=(tmp_path / FILE).read_bytes())
        quota.charge(made, now=made.received_at)
        return made

    return submit


def evaluated(submission: Submission) -> Submission:
    tasks.evaluate(str(submission.pk))
    return Submission.objects.get(pk=submission.pk)


def scores(submission: Submission) -> set[tuple[Any, ...]]:
    return set(Score.objects.filter(evaluation__submission=submission).values_list("split", "metric", "value", "low"))


def prepared_file(phase: Phase) -> Path:
    return Path(phase.truths.get().prepared.path)


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << place % 8
    path.write_bytes(content)


pytestmark = pytest.mark.usefixtures("inline_queue")


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.9])
def test_a_flipped_bit_is_repaired_and_the_submission_is_scored_in_the_same_attempt(
    phase: Phase, submit: Callable[[], Submission], part: float
) -> None:
    expected = scores(evaluated(submit()))
    path = prepared_file(phase)
    sound = path.read_bytes()
    flip(path, int(part * len(sound)))
    submission = evaluated(submit())
    assert (submission.status, submission.attempts, scores(submission)) == ("scored", 1, expected)
    assert path.read_bytes() == sound
    assert path.stat().st_mode & 0o777 == 0o600
    assert not list(Path(configured.FILE_UPLOAD_TEMP_DIR).iterdir())


def test_a_truth_prepared_by_the_previous_version_is_prepared_again(
    phase: Phase, submit: Callable[[], Submission]
) -> None:
    path = prepared_file(phase)
    sound = path.read_bytes()
    path.write_bytes(b"PODIUM\0\4" + sound[8:])
    assert evaluated(submit()).status == "scored"
    assert path.read_bytes() == sound


def other_truth(phase: Phase, folder: Path) -> Truth:
    """Add a second version of the ground truth to the phase, with every second box removed."""
    boxes = folder / "phases" / "main" / "truth" / "boxes.csv"
    head, *rows = boxes.read_text().splitlines()
    boxes.write_text("\n".join([head, *rows[::2]]) + "\n")
    return truths.add(phase=phase, path=boxes.parent, by=None)


def active_file(phase: Phase) -> Path:
    return Path(phase.truths.get(active=True).prepared.path)


def test_a_valid_file_of_another_truth_is_never_used_for_scoring(
    phase: Phase, submit: Callable[[], Submission], tmp_path: Path
) -> None:
    expected = scores(evaluated(submit()))
    path = active_file(phase)
    sound = path.read_bytes()
    path.write_bytes(Path(other_truth(phase, tmp_path).prepared.path).read_bytes())
    submission = evaluated(submit())
    assert (submission.status, scores(submission)) == ("scored", expected)
    assert path.read_bytes() == sound
    assert {one.signature for one in Evaluation.objects.all()} == {phase.signature}


def test_a_file_of_another_track_is_replaced_and_not_reported_as_the_organizers_fault(
    phase: Phase, submit: Callable[[], Submission], tmp_path: Path
) -> None:
    synthesize("objectnet", tmp_path / "other", images=12, qualities=(0.6,))
    path = active_file(phase)
    sound = path.read_bytes()
    prepare("objectnet", tmp_path / "other" / "truth", path)
    submission = evaluated(submit())
    assert (submission.status, submission.fault) == ("scored", "")
    assert path.read_bytes() == sound


def test_reruns_also_restore_a_damaged_truth(
    phase: Phase, submit: Callable[[], Submission], inline_queue: InlineQueue
) -> None:
    submission, path = evaluated(submit()), prepared_file(phase)
    for _ in range(2):
        flip(path, 3000)
        inline_queue.work_later()
    assert not Rerun.objects.exists()
    assert all(low is not None for *_, low in scores(submission))


def test_damage_that_cannot_be_repaired_is_the_platforms_fault(
    phase: Phase, submit: Callable[[], Submission], settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    truth = phase.truths.get()
    Path(truth.source.path).write_bytes(b"not a zip")
    flip(prepared_file(phase), 3000)
    submission = submit()
    for _ in range(settings.EVALUATION_ATTEMPTS + 1):
        Submission.objects.update(not_before=None)
        tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert (submission.status, submission.attempts, submission.fault) == ("queued", 0, "")
    assert "cannot be prepared" in caplog.text
    assert phase.salt.strip() not in caplog.text


def test_a_damaged_truth_is_never_replaced_by_a_different_truth(
    phase: Phase, submit: Callable[[], Submission], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The damaged file is not replaced, because the stored source files belong to a different ground truth."""
    boxes = tmp_path / "phases" / "main" / "truth" / "boxes.csv"
    boxes.write_text("\n".join(boxes.read_text().splitlines()[:-1]) + "\n")
    other = truths.add(phase=phase, path=boxes.parent, by=None)
    truth = phase.truths.get(active=True)
    Path(truth.source.path).write_bytes(Path(other.source.path).read_bytes())
    damaged = bytes(64)
    Path(truth.prepared.path).write_bytes(damaged)
    waiting = evaluated(submit())
    assert "its SHA-256 differs from the recorded one" in caplog.text
    assert (waiting.status, waiting.attempts, waiting.not_before is not None) == ("queued", 0, True)
    assert Path(truth.prepared.path).read_bytes() == damaged


def test_a_repair_that_does_not_end_counts_as_an_attempt(
    phase: Phase, submit: Callable[[], Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(truth: Truth) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr("worker.truths.prepare_again", slow)
    flip(prepared_file(phase), 3000)
    submission = submit()
    with pytest.raises(SoftTimeLimitExceeded):
        tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert (submission.status, submission.attempts, submission.failure_code) == ("queued", 1, "")


def test_a_worker_that_waited_for_another_finds_the_truth_undamaged(
    phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second worker does not restore the file again, because the first worker already uses the restored file."""
    truth, path = phase.truths.get(), prepared_file(phase)
    monkeypatch.setattr("worker.truths.prepare_again", lambda truth: pytest.fail("the truth was prepared again"))
    restore(truth, DamagedTruth(path.name, "is damaged"))


def test_restoring_a_truth_twice_does_no_harm(phase: Phase) -> None:
    """Several workers may detect the same damage at the same time, and each of them may restore the ground truth."""
    truth, path = phase.truths.get(), prepared_file(phase)
    sound, before = path.read_bytes(), set(path.parent.iterdir())
    chance = random.Random(1)
    flip(path, chance.randrange(len(sound)))
    for _ in range(2):
        truths.prepare_again(truth)
        assert path.read_bytes() == sound
    assert set(path.parent.iterdir()) == before
