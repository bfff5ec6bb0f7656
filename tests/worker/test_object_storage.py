"""Submissions in an object store are scored exactly like submissions on a disk.

If the object store fails, this counts as the platform's fault and not as the participant's.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from pytest_django import Settings

from evaluator.problems import DamagedTruth
from evaluator.synthesis import synthesize
from server.challenges.models import Phase, Truth
from server.leaderboards.models import Entry
from server.organize.services.importing import import_bundle
from server.stored_files.address import ObjectStore
from server.submissions.models import Score, Submission
from tests.conftest import InlineQueue, Make
from tests.object_store import Line, line, store, store_port
from tests.server.documented import Answer, Api
from tests.worker.test_damaged_truth import SALT, SHEET
from worker import storage_check, tasks, truth_cache
from worker.storage_check import STOPPED
from worker.truth_cache import local_truth

__all__ = ["line", "store", "store_port"]

pytestmark = [pytest.mark.usefixtures("inline_queue", "working"), pytest.mark.enable_socket]

Imported = Callable[[str], Phase]
FILE = "made/submissions/quality-0.60.csv"


@pytest.fixture
def working(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the worker continue immediately after a failed storage check."""
    monkeypatch.setattr(storage_check, "PAUSE_SECONDS", 0)
    STOPPED[0] = 0
    yield
    STOPPED[0] = 0


@pytest.fixture
def imported(tmp_path: Path, make: Make) -> Imported:
    """Return a function that imports a challenge with a small ground truth: `imported("cats")`."""

    def imported(slug: str) -> Phase:
        folder = tmp_path / slug
        synthesize("openimages-detection", folder / "made", images=12, qualities=(0.6,))
        (folder / "phases" / "main").mkdir(parents=True)
        (folder / "made" / "truth").rename(folder / "phases" / "main" / "truth")
        (folder / "phases" / "main" / "truth" / "salt.txt").write_text(f"{SALT}\n")
        (folder / "challenge.yaml").write_text(SHEET.replace("slug: flows", f"slug: {slug}"))
        import_bundle(path=folder, by=None)
        return Phase.objects.get(challenge__slug=slug)

    return imported


@pytest.fixture
def cats(store: ObjectStore, imported: Imported) -> Phase:
    """Import a challenge whose files are in an object store."""
    return imported("cats")


def uploaded(phase: Phase, folder: Path, make: Make) -> Answer:
    """Upload a file through the API, as a new team."""
    slug, user = phase.challenge.slug, make.user()
    make.team(phase.challenge, user)
    content = (folder / slug / FILE).read_bytes()
    return Api().upload(f"challenges/{slug}/phases/main/submissions", file=content, user=user)


def worked(submission: Submission) -> Submission:
    Submission.objects.update(not_before=None)
    tasks.evaluate(str(submission.pk))
    return Submission.objects.get(pk=submission.pk)


def outcome(phase: Phase, inline_queue: InlineQueue) -> tuple[Any, ...]:
    """Score all submissions, with intervals. Return their states, their scores with intervals, and the leaderboard."""
    inline_queue.work()
    inline_queue.work_later()  # These jobs compute the intervals of the scores.
    inline_queue.work_later()  # These jobs compute the explanations of the scores.
    states = set(Submission.objects.filter(phase=phase).values_list("status", "attempts", "fault"))
    scores = Score.objects.filter(evaluation__submission__phase=phase)
    entries = Entry.objects.filter(board__phase=phase).present().in_order()
    return (
        states,
        set(scores.values_list("split", "metric", "value", "low", "high")),
        list(entries.values_list("board__kind", "score", "low", "high")),
    )


def test_scores_intervals_and_leaderboards_equal_those_of_local_files(
    imported: Imported, make: Make, tmp_path: Path, inline_queue: InlineQueue, request: pytest.FixtureRequest
) -> None:
    local = imported("local")
    assert uploaded(local, tmp_path, make).status_code == 201
    expected = outcome(local, inline_queue)
    request.getfixturevalue("store")
    remote = imported("remote")
    assert uploaded(remote, tmp_path, make).status_code == 201
    assert outcome(remote, inline_queue) == expected
    assert expected[0] == {("scored", 1, "")}
    assert expected[2]
    left = {path.name for path in (tmp_path / "incoming").iterdir()}
    assert left == set()
    assert not [*(tmp_path / "uploads").glob("*/*remote*")]


@pytest.fixture
def submission(cats: Phase, tmp_path: Path, make: Make) -> Submission:
    """Upload a file to an object store. It is not scored yet."""
    return Submission.objects.get(pk=uploaded(cats, tmp_path, make).json()["id"])


def test_a_truth_is_downloaded_once_and_then_read_from_the_cache(
    submission: Submission, cats: Phase, tmp_path: Path, make: Make, line: Line
) -> None:
    worked(submission)
    copies = [*truth_cache.folder().glob("*/*.podium")]
    assert [path.stat().st_mode & 0o777 for path in copies] == [0o600]
    passed = line.passed
    with local_truth(cats.truth) as path:
        assert [path] == copies
    assert line.passed - passed < 2000 < path.stat().st_size


@pytest.mark.parametrize("content", [b"", b"ImageId,PredictionString\nother,\n", b"x" * 33])
def test_a_damaged_upload_is_not_scored(
    submission: Submission, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    default_storage.save(str(submission.file.name), ContentFile(content))
    found = worked(submission)
    assert (found.status, found.attempts, found.fault, found.not_before is not None) == ("queued", 0, "", True)
    assert "is damaged" in caplog.text


def test_a_lost_upload_waits_and_does_not_stop_the_worker(submission: Submission, cats: Phase, make: Make) -> None:
    for _ in range(8):
        make.submission(cats)
    default_storage.delete(str(submission.file.name))
    found = worked(submission)
    assert (found.status, found.attempts, found.fault) == ("queued", 0, "")
    assert STOPPED[0] == 0


def test_a_damaged_truth_is_prepared_again_from_its_stored_source(submission: Submission, cats: Phase) -> None:
    truth = cats.truth
    storage = truth.prepared.storage
    sound = storage.open(truth.prepared.name).read()
    storage.save(truth.prepared.name, ContentFile(sound[:-1] + b"x"))
    assert worked(submission).status == "scored"
    assert storage.open(truth.prepared.name).read() == sound


def test_a_damaged_copy_of_a_truth_is_downloaded_again(submission: Submission, cats: Phase) -> None:
    with local_truth(cats.truth) as path:
        sound = path.read_bytes()
    path.write_bytes(sound[:-1] + b"x")
    assert worked(submission).status == "scored"
    assert path.read_bytes() == sound


def test_a_storage_that_stops_in_the_middle_never_costs_an_attempt(
    submission: Submission, line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    line.cut_after = 3000
    found = worked(submission)
    assert (found.status, found.attempts, found.fault, found.failure) == ("queued", 0, "", "")
    assert "alarm: " in caplog.text
    assert [path.name for path in truth_cache.folder().iterdir()] == []
    line.cut_after = None
    assert worked(submission).status == "scored"


def test_a_worker_takes_no_jobs_while_the_storage_does_not_respond(
    submission: Submission, line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    line.down = True
    for _ in range(3):
        found = worked(submission)
    assert (found.status, found.attempts, found.fault, STOPPED[0]) == ("queued", 0, "", 1)
    assert "takes no jobs" in caplog.text
    assert "secret" not in caplog.text
    line.down = False
    assert worked(submission).status == "scored"


def test_an_upload_while_the_storage_does_not_respond_is_answered_with_503(
    cats: Phase, line: Line, tmp_path: Path, make: Make
) -> None:
    line.down = True
    answer = uploaded(cats, tmp_path, make)
    assert (answer.status_code, answer.json()["code"]) == (503, "maintenance")
    assert not Submission.objects.exists()


def second(cats: Phase, make: Make) -> Truth:
    """Store a second ground truth. Its prepared file is a copy of the first one with one additional byte."""
    with local_truth(cats.truth) as path:
        content = path.read_bytes()
    made: Truth = make.truth(cats, content=content + b"2")
    return made


def test_the_copies_that_were_used_least_recently_are_removed(cats: Phase, make: Make, settings: Settings) -> None:
    first, other = cats.truth, second(cats, make)
    settings.TRUTH_CACHE_BYTES = other.prepared.size
    with local_truth(other) as kept:
        pass
    assert [*truth_cache.folder().iterdir()] == [kept.parent]
    with local_truth(first) as again:
        pass
    assert [*truth_cache.folder().iterdir()] == [again.parent]


def test_a_copy_that_is_being_read_is_not_removed(cats: Phase, make: Make, settings: Settings) -> None:
    other = second(cats, make)
    settings.TRUTH_CACHE_BYTES = 1
    with local_truth(cats.truths.get(version=1)) as reading, local_truth(other) as path:
        assert reading.exists()
        assert path.exists()


def test_a_copy_does_not_change_while_other_processes_use_or_restore_it(cats: Phase) -> None:
    """Not even the metadata of a copy may change, because the scorer refuses a file that changes while it is read."""
    with local_truth(cats.truth) as path:
        before = path.stat()
        with local_truth(cats.truth):
            pass
        with truth_cache.restoring(cats.truth):
            pass
        assert (path.stat().st_ino, path.stat().st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def test_a_truth_that_differs_from_its_sha256_never_enters_the_cache(cats: Phase, line: Line) -> None:
    truth = cats.truth
    storage = truth.prepared.storage
    found = storage.head(truth.prepared.name)
    storage.save(truth.prepared.name, ContentFile(b"other"))
    with pytest.raises(DamagedTruth):
        truth_cache.downloaded(truth, found)
    assert [*truth_cache.folder().iterdir()] == []
