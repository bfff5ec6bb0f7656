"""If few files are stored, a worker stops taking jobs only if the whole folder or several of the files are missing."""

import pytest

from server.submissions.models import Status, Submission
from tests.conftest import Make
from tests.worker.test_storage_check import evaluate, hide, outcomes, upload, worker
from worker.storage_check import STOPPED

__all__ = ["worker"]  # pytest finds this imported fixture by name.


@pytest.mark.parametrize("count", [1, 3])
def test_a_single_lost_file_does_not_stop_the_worker_of_a_small_installation(make: Make, count: int) -> None:
    phase = make.phase()
    submissions = [make.submission(phase) for _ in range(count)]
    hide(upload(submissions[0]))
    for _ in submissions:
        evaluate()
    assert STOPPED[0] == 0
    assert Submission.objects.filter(status=Status.SCORED).count() == count - 1


def test_a_missing_folder_stops_the_worker_even_if_there_is_only_one_file(make: Make) -> None:
    hide(upload(make.submission(make.phase())).parent)
    evaluate()
    assert (STOPPED[0], outcomes()) == (1, {("queued", 0, "")})
