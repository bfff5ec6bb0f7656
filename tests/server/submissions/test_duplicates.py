"""A file that the team has already submitted is refused before it is stored, because a duplicate uses no quota."""

import pytest
from django.core.files.base import ContentFile

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.submissions.models import Submission
from server.submissions.services import intake
from server.submissions.storage import DurableStorage
from tests.conftest import Make

TEXT = b"ImageId,PredictionString\na,\n"

pytestmark = pytest.mark.usefixtures("inline_queue")


def test_a_duplicate_is_refused_before_it_is_stored_or_locks_the_phase(
    make: Make, phase: Phase, team: Team, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.submission(phase, team, content=TEXT)
    monkeypatch.setattr(DurableStorage, "_save", None)
    monkeypatch.setattr(intake, "admit", None)
    with pytest.raises(Refused) as caught:
        intake.submit(user=member, team=team, phase=phase, file=ContentFile(TEXT, "again.csv"))
    assert caught.value.code == "duplicate_file"


def test_a_duplicate_whose_original_arrives_at_the_same_time_is_refused(
    make: Make, phase: Phase, team: Team, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    admit = intake.admit

    def after_the_original(submission: Submission, *, charge: bool) -> None:
        make.submission(phase, team, content=TEXT)
        admit(submission, charge=charge)

    monkeypatch.setattr(intake, "admit", after_the_original)
    with pytest.raises(Refused) as caught:
        intake.submit(user=member, team=team, phase=phase, file=ContentFile(TEXT, "again.csv"))
    assert caught.value.code == "duplicate_file"


def test_a_repeated_request_with_an_idempotency_key_is_no_duplicate(phase: Phase, team: Team, member: User) -> None:
    first, second = (
        intake.submit(user=member, team=team, phase=phase, file=ContentFile(TEXT, "mine.csv"), key="one")
        for _ in range(2)
    )
    assert first == second
