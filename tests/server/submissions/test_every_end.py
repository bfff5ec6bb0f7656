"""Tests every way in which the processing of a submission can end, and how pages and the API show the outcome.

The outcome includes the code and message of a failure, whose fault it is, and whether the submission uses quota.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.test import Client

from evaluator import scoring
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission, InvalidTruth, Problem
from evaluator.report import Report, SplitReport
from evaluator.request import ScoringRequest
from server.challenges.models import Phase
from server.submissions.defect_advice import ADVICE
from server.submissions.models import FINISHED, Failure, Fault, QuotaEntry, Status, Submission
from server.submissions.services import leases, lifecycle, quota, sweeping
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api
from tests.server.page import Page
from worker import tasks
from worker.limits import OutOfTime

WHOSE = {
    Fault.PARTICIPANT: "The problem is in your file.",
    Fault.ORGANIZER: "The organizers of the challenge have to fix it.",
    Fault.PLATFORM: "The problem is on our side",
}
# Each message must tell the participant what to do, so it must contain one of these strings.
DEEDS = ("Submit ", "Send ", "Write ", "Contact ", "Fix ", "Keep ", "contact the operator")


@dataclass(frozen=True)
class End:
    """A way in which the processing of a submission can end, and the expected result."""

    brought_about: Callable[[Submission, pytest.MonkeyPatch], None]
    status: Status
    fault: Fault
    code: str
    given_back: bool = True
    attempts: int = 1


def worker(outcome: BaseException | Report) -> Callable[[Submission, pytest.MonkeyPatch], None]:
    """Return a function that simulates a worker, whose attempts to score a submission all have the given outcome.

    The function repeats the attempt as long as the submission is queued.
    """

    def work(submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
        def score(request: ScoringRequest) -> Report:
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        monkeypatch.setattr(scoring, "score", score)
        while Submission.objects.filter(pk=submission.pk, status=Status.QUEUED).exists():
            try:
                tasks.evaluate(str(submission.pk))
            except (ZeroDivisionError, SoftTimeLimitExceeded):
                continue

    return work


def dies_again_and_again(submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    while leases.claim(Submission, submission.pk):
        Submission.objects.update(lease_until=datetime.now(UTC) - timedelta(seconds=1))
        sweeping.end_expired_leases()


def dies_once(submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    Submission.objects.update(attempts=2)  # Simulate two failed attempts to score the submission.
    dies_again_and_again(submission, monkeypatch)


def cancelled(submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    assert submission.user is not None
    lifecycle.cancel(submission=submission, by=submission.user)


def cancelled_while_it_runs(submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    leases.claim(Submission, submission.pk)
    cancelled(submission, monkeypatch)


def without_truth(submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    submission.phase.truths.update(active=False)
    tasks.evaluate(str(submission.pk))


def rejected(code: str) -> End:
    error = InvalidSubmission(Findings.of(Problem(code, f"what is wrong, by {code}", line=3)))
    return End(worker(error), Status.REJECTED, Fault.PARTICIPANT, code)


BROKEN_TRUTH = InvalidTruth(Findings.of(Problem("truth_bad_value", "secret", file="boxes.csv")))
SCORED = Report("openimages-detection", "s", {}, {"all": SplitReport("mAP", {"mAP": 0.5}, [])}, [])
ENDS = {
    "scored": End(worker(SCORED), Status.SCORED, Fault.NONE, "", given_back=False),
    "cancelled in the queue": End(cancelled, Status.CANCELLED, Fault.NONE, "", attempts=0),
    "cancelled too late": End(cancelled_while_it_runs, Status.CANCELLED, Fault.NONE, "", given_back=False),
    "broken truth": End(worker(BROKEN_TRUTH), Status.FAILED, Fault.ORGANIZER, Failure.UNUSABLE_TRUTH),
    "no truth": End(without_truth, Status.FAILED, Fault.ORGANIZER, Failure.UNUSABLE_TRUTH),
    "bad settings": End(worker(InvalidParameters("x")), Status.FAILED, Fault.ORGANIZER, Failure.UNUSABLE_TRUTH),
    "memory": End(worker(MemoryError()), Status.FAILED, Fault.PARTICIPANT, Failure.OUT_OF_MEMORY, given_back=False),
    "time": End(worker(OutOfTime()), Status.FAILED, Fault.PARTICIPANT, Failure.OUT_OF_TIME, given_back=False),
    "hanging": End(worker(SoftTimeLimitExceeded()), Status.FAILED, Fault.PLATFORM, Failure.ACCIDENT, attempts=3),
    "crash": End(worker(ZeroDivisionError()), Status.FAILED, Fault.PLATFORM, Failure.ACCIDENT, attempts=3),
    "lost workers": End(
        dies_again_and_again, Status.FAILED, Fault.PARTICIPANT, Failure.WORKER_LOST, given_back=False, attempts=3
    ),
    "one lost worker": End(dies_once, Status.FAILED, Fault.PLATFORM, Failure.WORKER_LOST, attempts=3),
    **{code: rejected(code) for code in ADVICE},
}


@pytest.fixture(params=ENDS)
def end(request: pytest.FixtureRequest) -> End:
    return ENDS[request.param]


@pytest.fixture
def ended(end: End, make: Make, inline_queue: InlineQueue, monkeypatch: pytest.MonkeyPatch) -> Submission:
    phase = make.phase()
    submission: Submission = make.submission(phase, make.team(phase.challenge))
    quota.charge(submission, now=submission.received_at)
    end.brought_about(submission, monkeypatch)
    submission.refresh_from_db()
    return submission


def test_every_status_fault_and_code_is_tested() -> None:
    assert {end.status for end in ENDS.values()} == set(FINISHED)
    assert {end.fault for end in ENDS.values()} == set(Fault)
    assert {end.code for end in ENDS.values()} == {"", *Failure, *ADVICE}


def test_the_row_has_the_expected_status_fault_and_attempts(end: End, ended: Submission) -> None:
    found = (Status(ended.status), Fault(ended.fault), ended.attempts)
    assert found == (end.status, end.fault, end.attempts)


def test_the_quota_is_given_back_in_the_expected_cases(end: End, ended: Submission) -> None:
    amounts = sorted(QuotaEntry.objects.filter(submission=ended).values_list("amount", flat=True))
    assert amounts == ([-1, 1] if end.given_back else [1])


def test_the_page_shows_the_code_the_message_and_what_to_do(end: End, ended: Submission, client: Client) -> None:
    client.force_login(ended.user)
    page = Page(client.get(f"/submissions/{ended.pk}/"))
    words = page.words
    assert ended.get_status_display() in words
    assert bool(page.all("p", id="given-back")) == end.given_back
    if ended.status != Status.SCORED:
        assert end.code in words
        assert any(deed in words for deed in DEEDS)
    if ended.status == Status.REJECTED:
        assert f"what is wrong, by {end.code}" in words
        assert ADVICE[end.code] in words
    assert [fault for fault, said in WHOSE.items() if said in words] == [fault for fault in WHOSE if fault == end.fault]


def test_the_api_returns_the_code_the_message_and_what_to_do(end: End, ended: Submission, api: Api) -> None:
    told = api.get(f"submissions/{ended.pk}", user=ended.user).json()
    assert (told["status"], told["fault"] or "") == (end.status, end.fault)
    if ended.status == Status.FAILED:
        assert told["failure_code"] == end.code
        assert any(deed in told["failure"] for deed in DEEDS)
    elif ended.status == Status.REJECTED:
        assert [error["code"] for error in told["problems"]["errors"]] == [end.code]
        assert told["problems"]["advice"] == {end.code: ADVICE[end.code]}
    if ended.status != Status.SCORED:
        assert any(deed in told["why_not"] for deed in DEEDS)


def test_every_failure_of_the_platform_raises_an_alarm(
    end: End, make: Make, inline_queue: InlineQueue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    submission: Submission = make.submission(make.phase())
    with caplog.at_level(logging.ERROR):
        end.brought_about(submission, monkeypatch)
    alarms = [record.getMessage() for record in caplog.records if record.getMessage().startswith("alarm")]
    assert [str(submission.pk) in alarm and end.code in alarm for alarm in alarms] == [True] * (
        end.status == Status.FAILED
    )
    assert "secret" not in caplog.text


def test_a_score_for_a_deleted_phase_is_not_recorded(make: Make, phase: Phase) -> None:
    claimed = leases.claim(Submission, make.submission(phase).pk)
    assert claimed is not None
    truth, report = phase.truths.get(), {"signature": "s", "splits": {}}
    Phase.objects.get(pk=phase.pk).delete()
    assert not lifecycle.record(claimed, truth=truth, report=report, cpu_seconds=1.5)
