"""Tests a rescoring during which the files of some submissions cannot be read."""

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from server.audit.models import Entry
from server.challenges.models import Phase, Truth
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.submissions.models import Rerun, Submission
from server.submissions.services import leases
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api
from tests.server.organize.test_rescoring import done, lines, newer, two

__all__ = ["newer", "two"]  # pytest finds these imported fixtures by name.
pytestmark = [pytest.mark.usefixtures("inline_queue"), pytest.mark.phase(challenge={"slug": "animals"}, slug="main")]
Two = tuple[Submission, Submission]


def block(submission: Submission, reason: str = "Its file is missing.") -> None:
    """Postpone a submission's rerun (the job that scores it again), as a worker does if it cannot read the file."""
    claimed = leases.claim(Rerun, submission.reruns.get().pk)
    assert claimed is not None
    leases.postpone(claimed, reason=reason)


@pytest.fixture
def begun(phase: Phase, newer: Truth, two: Two) -> Rescoring:
    """Begin a rescoring in which team A's submission has been scored, but team B's file cannot be read."""
    begun = rescoring.start(phase=phase, by=None)
    done(two[0], 0.9)
    block(two[1])
    return begun


def refusal(begun: Rescoring, **consent: bool) -> str:
    with pytest.raises(Refused) as caught:
        rescoring.apply(rescoring=begun, by=None, **consent)
    return caught.value.code


def test_a_submission_whose_file_is_lost_is_listed_and_left_out_with_consent(
    phase: Phase, begun: Rescoring, two: Two
) -> None:
    (lost,) = rescoring.unscorable(begun)
    assert (lost.submission, lost.reason, lost.is_given_up) == (two[1], "Its file is missing.", False)
    assert (rescoring.count_left(begun), refusal(begun)) == (0, "rescoring_loses")
    rescoring.apply(rescoring=begun, by=None, without_unscorable=True)
    assert lines(phase) == [("A", 0.9)]
    assert Entry.objects.get(action="rescoring.applied").detail["without"] == 1


def test_a_submission_that_was_left_out_appears_once_its_file_is_back(phase: Phase, begun: Rescoring, two: Two) -> None:
    rescoring.apply(rescoring=begun, by=None, without_unscorable=True)
    assert Submission.objects.get(pk=two[1].pk).stage == "bootstrapping"
    done(two[1], 0.7)
    assert lines(phase) == [("A", 0.9), ("B", 0.7)]


def test_a_submission_whose_file_is_tried_again_is_still_to_be_scored(begun: Rescoring, two: Two) -> None:
    assert leases.claim(Rerun, two[1].reruns.get().pk)
    assert not rescoring.unscorable(begun).exists()
    assert refusal(begun, without_unscorable=True) == "rescoring_unfinished"


def test_the_command_prints_the_reason(begun: Rescoring, two: Two, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="1 submission cannot be scored against"):
        call_command("rescore", "animals", "main")
    printed = capsys.readouterr().out
    assert f"cannot be scored now; will be tried again: B, {two[1].pk}: Its file is missing.\n" in printed
    call_command("rescore", "animals", "main", "--without-unscorable")
    assert capsys.readouterr().out.endswith("applied\n")


def test_the_api_returns_the_reason(api: Api, make: Make, phase: Phase, begun: Rescoring, scored: Scored) -> None:
    phase.challenge.organizers.add(boss := make.user(username="boss"))
    path, organizer = "challenges/animals/phases/main/rescore", {"user": boss, "scope": "organize"}
    found = api.get(path, **organizer).json()
    (lost,) = found["unscorable"]
    assert (lost["reason"], lost["given_up"], found["left"]) == ("Its file is missing.", False, 0)
    assert api.post(f"{path}/apply", {"without_unscorable": True}, **organizer).status_code == 200


def test_on_request_a_waiting_submission_is_tried_again_at_once(begun: Rescoring, phase: Phase, two: Two) -> None:
    rescoring.start(phase=phase, by=None, retry=True)
    rerun = two[1].reruns.get()
    assert (rerun.waiting_for, rerun.not_before, rerun.postponed, rescoring.count_left(begun)) == ("", None, 0, 1)


def test_starting_again_does_not_retry_a_file_that_killed_its_workers(
    api: Api, make: Make, phase: Phase, newer: Truth, scored: Scored, settings: Settings
) -> None:
    phase.challenge.organizers.add(boss := make.user(username="boss"))
    path, organizer = "challenges/animals/phases/main/rescore", {"user": boss, "scope": "organize"}
    submission = scored(phase, 0.6)
    api.post(path, {}, **organizer)
    submission.reruns.update(failure="its worker stopped 3 times", attempts=settings.EVALUATION_ATTEMPTS)
    assert api.post(path, {}, **organizer).json()["unscorable"][0]["given_up"]
    assert api.post(path, {"preview": False}, **organizer).json()["code"] == "rescoring_loses"
    retried = api.post(path, {"retry": True}, **organizer).json()
    assert (retried["unscorable"], retried["left"]) == ([], 1)
