"""Organizers can grant a team additional submissions, for a single day or in total."""

from datetime import date, timedelta

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
from server.organize.services import extending
from server.submissions.models import QuotaGrant
from server.submissions.services import grants, intake, quota
from server.teams.services import merging
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api
from tests.server.page import Page

pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main", quota_per_day=1, attempts_per_day=1)]


@pytest.fixture
def organizer(phase: Phase, make: Make) -> User:
    user = make.user()
    phase.challenge.organizers.add(user)
    return user


def today() -> date:
    return database_now().date()


def submit(team: Team, phase: Phase, number: int) -> None:
    file = ContentFile(f"ImageId,PredictionString\n{number},\n".encode(), "a.csv")
    intake.submit(user=team.memberships.get().user, team=team, phase=phase, file=file)


def left(team: Team, phase: Phase) -> int:
    return quota.state(team=team, phase=phase, now=database_now()).may_submit


def test_a_grant_for_today_lets_only_that_team_submit_more_often(
    phase: Phase, team: Team, make: Make, organizer: User, inline_queue: InlineQueue
) -> None:
    other = make.team(phase.challenge)
    grants.grant(phase=phase, team=team, by=organizer, amount=2, day=today(), reason="A worker failed.")
    assert [left(one, phase) for one in (team, other)] == [3, 1]
    for number in range(3):
        submit(team, phase, number)
    with pytest.raises(Refused) as refused:
        submit(team, phase, 4)
    assert refused.value.code == "quota_exhausted"
    assert "its 3 submissions for today" in refused.value.detail


def test_a_grant_for_another_day_does_not_change_today(phase: Phase, team: Team, organizer: User) -> None:
    tomorrow = today() + timedelta(days=1)
    grants.grant(phase=phase, team=team, by=organizer, amount=2, day=tomorrow, reason="r")
    assert left(team, phase) == 1
    assert quota.state(team=team, phase=phase, now=database_now() + timedelta(days=1)).left == 3


@pytest.mark.phase(challenge={"slug": "c"}, slug="main", quota_per_day=1, quota_total=1)
@pytest.mark.parametrize(("has_day", "expected"), [(True, (2, 1)), (False, (1, 1))])
def test_both_kinds_of_grants_raise_the_limit_in_total(
    has_day: bool, expected: tuple[int, int], phase: Phase, team: Team, organizer: User, inline_queue: InlineQueue
) -> None:
    grants.grant(phase=phase, team=team, by=organizer, amount=1, day=today() if has_day else None, reason="r")
    assert left(team, phase) == expected[0]
    submit(team, phase, 1)
    assert quota.state(team=team, phase=phase, now=database_now()).total_left == expected[1]


def test_the_team_reads_the_grant_with_its_reason(
    phase: Phase, team: Team, organizer: User, member: User, client: Client, api: Api
) -> None:
    deriving.derive()
    grants.grant(phase=phase, team=team, by=organizer, amount=2, day=today(), reason="A worker failed.")
    deriving.derive()
    assert api.get("challenges/c/phases/main/quota", user=member).json()["per_day"] == 3
    assert "A worker failed." in Page(client.get("/challenges/c/team")).words
    assert Notice.objects.get(user=member).event.text.startswith("Your team may make 2 more submissions")
    assert Entry.objects.get(action="team.quota_granted").actor == organizer.username


@pytest.mark.parametrize(
    ("amount", "day", "reason"),
    # Each case is an invalid grant of additional submissions. The last one has no day, so it would raise the limit on
    # the total number of submissions, but the phase has no such limit.
    [(0, 0, "r"), (101, 0, "r"), (1, -1, "r"), (1, 0, ""), (1, None, "r")],
)
def test_useless_grants_are_refused(
    amount: int, day: int | None, reason: str, phase: Phase, team: Team, organizer: User
) -> None:
    chosen = None if day is None else today() + timedelta(days=day)
    with pytest.raises(Refused):
        grants.grant(phase=phase, team=team, by=organizer, amount=amount, day=chosen, reason=reason)
    assert not QuotaGrant.objects.exists()


def test_a_merged_team_keeps_the_grants_and_the_extension_of_both_teams(
    phase: Phase, team: Team, make: Make, organizer: User
) -> None:
    other, end = make.team(phase.challenge), database_now() + timedelta(days=1)
    Phase.objects.filter(pk=phase.pk).update(closes_at=end)
    for amount, one in ((1, team), (2, other)):
        grants.grant(phase=phase, team=one, by=organizer, amount=amount, day=today(), reason="r")
    until = end + timedelta(days=1)
    extending.extend_team(phase=phase, team=other, by=organizer, until=until, reason="r")
    captains = [one.memberships.get().user for one in (team, other)]
    merging.confirm(proposal=merging.propose(team=team, other=other, by=captains[0]), by=captains[1])
    merged, found = Team.objects.get(pk=team.pk), Phase.objects.select_related("challenge").get(pk=phase.pk)
    state = quota.state(team=merged, phase=found, now=database_now())
    assert (state.granted, state.left, state.closes_at) == (3, 4, until)


def test_nobody_but_owners_and_editors_grants_submissions(phase: Phase, team: Team, member: User) -> None:
    with pytest.raises(Refused) as refused:
        grants.grant(phase=phase, team=team, by=member, amount=1, day=today(), reason="r")
    assert refused.value.code == "forbidden"


@pytest.fixture
def given(phase: Phase, team: Team, organizer: User) -> QuotaGrant:
    """Grant a team three additional submissions for today. The team may then submit four files today."""
    return grants.grant(phase=phase, team=team, by=organizer, amount=3, day=today(), reason="r")


@pytest.mark.parametrize(("submitted", "taken", "still_left"), [(0, 3, 1), (1, 3, 0), (2, 2, 0), (3, 1, 0)])
@pytest.mark.usefixtures("inline_queue")
def test_only_unused_submissions_of_a_grant_are_taken_back(
    submitted: int, taken: int, still_left: int, phase: Phase, team: Team, organizer: User, given: QuotaGrant
) -> None:
    for number in range(submitted):
        submit(team, phase, number)
    assert grants.take_back(grant=given, by=organizer, reason="A mistake") == taken
    state = quota.state(team=team, phase=phase, now=database_now())
    assert (state.left, state.attempts_left, state.granted) == (still_left, still_left, 3 - taken)
    entry = Entry.objects.get(action="team.quota_taken_back")
    expected = {"phase": str(phase), "grant": given.pk, "amount": taken, "left": 3 - taken, "reason": "A mistake"}
    assert entry.detail == expected


@pytest.mark.usefixtures("inline_queue")
def test_a_grant_that_was_used_or_taken_back_is_not_taken_back(
    phase: Phase, team: Team, make: Make, organizer: User, given: QuotaGrant
) -> None:
    for number in range(4):
        submit(team, phase, number)
    with pytest.raises(Refused, match="already used all submissions of this grant") as refused:
        grants.take_back(grant=given, by=organizer, reason="r")
    assert refused.value.code == "change_refused"
    other = make.team(phase.challenge)
    unused = grants.grant(phase=phase, team=other, by=organizer, amount=1, day=today(), reason="r")
    grants.take_back(grant=unused, by=organizer, reason="r")
    with pytest.raises(Refused, match="already been taken back"):
        grants.take_back(grant=unused, by=organizer, reason="r")


@pytest.mark.phase(challenge={"slug": "c"}, slug="main", quota_per_day=5, attempts_per_day=5, quota_total=1)
@pytest.mark.parametrize("has_day", [True, False])
@pytest.mark.usefixtures("inline_queue")
def test_the_total_limit_is_not_lowered_below_what_was_used(
    has_day: bool, phase: Phase, team: Team, organizer: User
) -> None:
    day = today() if has_day else None
    given = grants.grant(phase=phase, team=team, by=organizer, amount=2, day=day, reason="r")
    for number in range(2):
        submit(team, phase, number)
    assert grants.take_back(grant=given, by=organizer, reason="r") == 1
    assert quota.state(team=team, phase=phase, now=database_now()).total_left == 0


def test_rejected_files_use_attempts_of_a_grant(phase: Phase, team: Team, make: Make, given: QuotaGrant) -> None:
    for _ in range(3):
        rejected = make.submission(phase, team)
        quota.charge(rejected, now=database_now())
        quota.give_back(rejected, reason="rejected", now=database_now())
    assert grants.take_back(grant=given, by=None, reason="r") == 1


def test_the_team_reads_that_a_grant_was_taken_back_with_the_reason(
    phase: Phase, team: Team, member: User, given: QuotaGrant, client: Client
) -> None:
    deriving.derive()
    grants.take_back(grant=given, by=None, reason="Granted to the wrong team")
    deriving.derive()
    words = Page(client.get("/challenges/c/team")).words
    assert "3 granted submissions" in words
    assert "Granted to the wrong team" in words
    said = "The organizers took back 3 of the submissions"
    assert Notice.objects.filter(user=member, event__text__startswith=said).count() == 1


def test_nobody_but_owners_and_editors_takes_grants_back(given: QuotaGrant, member: User) -> None:
    with pytest.raises(Refused) as refused:
        grants.take_back(grant=given, by=member, reason="r")
    assert refused.value.code == "forbidden"


@pytest.mark.parametrize(("reason", "status"), [("Too many", 302), ("", 422)])
def test_an_organizer_takes_a_grant_back_on_the_page_of_the_team(
    reason: str, status: int, phase: Phase, team: Team, organizer: User, client: Client, given: QuotaGrant
) -> None:
    client.force_login(organizer)
    form = {"act": "take_back", "take_back-grant": given.pk, "take_back-reason": reason}
    assert client.post(f"/organize/challenges/c/phases/main/teams/{team.pk}", form).status_code == status
    assert left(team, phase) == (1 if status == 302 else 4)


def test_organizers_grant_and_take_back_with_the_api(phase: Phase, team: Team, organizer: User, api: Api) -> None:
    path, caller = f"challenges/c/phases/main/teams/{team.pk}/grants", {"user": organizer, "scope": "organize"}
    answer = api.post(path, {"amount": 2, "day": str(today()), "reason": "r"}, **caller)
    assert (answer.status_code, left(team, phase)) == (201, 3)
    address = f"{path}/{answer.json()['id']}/take-back"
    assert api.post(address, {"reason": ""}, **caller).json()["code"] == "invalid"
    taken = api.post(address, {"reason": "A mistake"}, **caller).json()
    assert (taken["amount"], taken["taken_back"], taken["taken_back_reason"]) == (0, 2, "A mistake")
    assert api.post(address, {"reason": "r"}, **caller).json()["code"] == "change_refused"
    assert api.get(path, **caller).json()["results"] == [taken]
    assert api.post(f"{path}/0/take-back", {"reason": "r"}, **caller).status_code == 404


def test_an_organizer_grants_submissions_on_the_page_of_the_team(
    phase: Phase, team: Team, organizer: User, client: Client
) -> None:
    client.force_login(organizer)
    form = {"act": "grant", "grant-amount": "2", "grant-day": str(today()), "grant-reason": "r"}
    assert client.post(f"/organize/challenges/c/phases/main/teams/{team.pk}", form).status_code == 302
    assert left(team, phase) == 3
