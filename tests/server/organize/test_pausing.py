"""While submissions to a phase are paused, no new file is accepted, but files that are already queued are scored.

Pages show that submissions are paused.
"""

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Phase, Team
from server.clock import database_now
from server.errors import Refused
from server.notices.models import Notice
from server.notices.services import deriving
from server.organize.services import overview, pausing
from server.submissions.models import Submission
from server.submissions.services import intake, leases, quota
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api
from tests.server.page import Page

pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main")]
REASON = "The ground truth is being corrected."


@pytest.fixture
def organizer(phase: Phase, make: Make) -> User:
    user = make.user()
    phase.challenge.organizers.add(user)
    return user


@pytest.fixture
def paused(phase: Phase, organizer: User) -> Phase:
    return pausing.pause(phase=phase, by=organizer, reason=REASON)


def submit(team: Team, phase: Phase, user: User) -> Submission:
    return intake.submit(user=user, team=team, phase=phase, file=ContentFile(b"ImageId,PredictionString\n", "a.csv"))


def test_a_file_is_refused_with_the_reason_while_submissions_are_paused(
    paused: Phase, team: Team, api: Api, member: User
) -> None:
    answer = api.upload("challenges/c/phases/main/submissions", user=member, file=b"ImageId,PredictionString\n")
    assert (answer.status_code, answer.json()["code"]) == (409, "phase_not_open")
    assert REASON in answer.json()["detail"]
    assert not team.submissions.exists()


def test_an_upload_that_began_before_the_pause_is_refused(
    phase: Phase, team: Team, member: User, organizer: User, inline_queue: InlineQueue
) -> None:
    pausing.pause(phase=phase, by=organizer, reason=REASON)
    with pytest.raises(Refused) as refused:  # The upload uses a phase object that was read before the pause.
        submit(team, phase, member)
    assert refused.value.code == "phase_not_open"


def test_submitted_files_are_scored_while_submissions_are_paused(
    phase: Phase, team: Team, make: Make, organizer: User
) -> None:
    queued = make.submission(phase, team)
    pausing.pause(phase=phase, by=organizer, reason=REASON)
    assert leases.claim(Submission, queued.pk) is not None


def test_files_are_accepted_after_submissions_are_resumed(
    paused: Phase, team: Team, member: User, organizer: User, inline_queue: InlineQueue
) -> None:
    resumed = pausing.resume(phase=paused, by=organizer)
    assert submit(team, resumed, member).status == "queued"


def test_the_quota_and_the_api_say_that_submissions_are_paused(
    paused: Phase, team: Team, member: User, api: Api
) -> None:
    state = quota.state(team=team, phase=paused, now=database_now())
    assert (state.may_submit, state.next_allowed_at) == (0, None)
    assert REASON in api.get("challenges/c/phases/main/quota", user=member).json()["reason"]
    assert api.get("challenges/c").json()["phases"][0]["open"] is False


@pytest.mark.usefixtures("paused", "team")
@pytest.mark.parametrize("page", ["", "leaderboard", "submissions", "submit"])
def test_the_pages_of_participants_show_the_reason_once(page: str, client: Client) -> None:
    assert Page(client.get(f"/challenges/c/{page}")).words.count(REASON) == 1


@pytest.mark.usefixtures("team")
def test_participants_get_one_notice_of_the_pause_and_one_of_its_end(
    phase: Phase, organizer: User, member: User
) -> None:
    deriving.derive()
    for act in (pausing.pause, pausing.resume):
        values: dict[str, Any] = {"reason": REASON} if act is pausing.pause else {}
        act(phase=phase, by=organizer, **values)
        deriving.derive()
        deriving.derive()
    texts = [notice.event.text for notice in Notice.objects.filter(user=member).order_by("pk")]
    assert [text.partition(" is ")[2] for text in texts] == [
        "not accepting submissions for now.",
        "accepting submissions again.",
    ]


def test_both_acts_are_in_the_audit_log_with_their_actor(paused: Phase, organizer: User) -> None:
    pausing.resume(phase=paused, by=organizer)
    entries = Entry.objects.filter(subject=f"phase {paused.pk}").order_by("pk")
    assert [(entry.action, entry.actor) for entry in entries] == [
        ("phase.paused", organizer.username),
        ("phase.resumed", organizer.username),
    ]


@pytest.mark.parametrize(("reason", "is_refused"), [("", True), ("a" * 301, True), ("a" * 300, False)])
def test_a_pause_needs_a_reason_of_one_line(reason: str, is_refused: bool, phase: Phase, organizer: User) -> None:
    if is_refused:
        with pytest.raises(Refused, match="reason"):
            pausing.pause(phase=phase, by=organizer, reason=reason)
    else:
        assert pausing.pause(phase=phase, by=organizer, reason=reason).is_paused


def test_an_organizer_pauses_and_resumes_on_the_page(phase: Phase, organizer: User, client: Client) -> None:
    client.force_login(organizer)
    address = "/organize/challenges/c/phases/main/intake"
    client.post(address, {"act": "pause", "reason": REASON})
    phase.refresh_from_db()
    assert overview.state_of(phase, database_now()) == "paused"
    assert REASON in Page(client.get(address)).words
    client.post(address, {"act": "resume"})
    phase.refresh_from_db()
    assert not phase.is_paused
