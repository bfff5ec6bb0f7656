"""A team's quota history has the same entries on the page and in the API, and the entries add up to the used quota."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.submissions.models import QuotaEntry, Submission
from server.submissions.services import leases, lifecycle, quota
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api
from tests.server.page import Page

STATEMENT = "challenges/c/phases/main/quota/statement"


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, slug="main", quota_per_day=3)


@pytest.fixture(autouse=True)
def three_files(make: Make, phase: Phase, team: Team, member: User, inline_queue: InlineQueue) -> None:
    """Create three submissions of the team: one counts against the quota, one is cancelled, and one is rejected."""
    for name in ("stands.csv", "cancelled.csv", "rejected.csv"):
        submission = make.submission(phase, team, file_name=name)
        quota.charge(submission, now=datetime.now(UTC))
        if name == "cancelled.csv":
            lifecycle.cancel(submission=submission, by=member)
        if name == "rejected.csv":
            claimed = leases.claim(Submission, submission.pk)
            assert claimed is not None
            lifecycle.reject(claimed, findings={"errors": [], "total": 1})


def test_the_statement_lists_all_entries_newest_first(member: User, api: Api) -> None:
    lines = api.get(STATEMENT, user=member).json()["results"]
    assert [(line["file_name"], line["amount"], line["reason"]) for line in lines] == [
        ("rejected.csv", -1, "rejected"),
        ("rejected.csv", 1, "submitted"),
        ("cancelled.csv", -1, "cancelled"),
        ("cancelled.csv", 1, "submitted"),
        ("stands.csv", 1, "submitted"),
    ]


def test_the_statement_does_not_reveal_the_exact_time_at_which_scoring_ended(member: User, api: Api) -> None:
    moment = datetime.now(UTC).replace(microsecond=123456)
    QuotaEntry.objects.update(at=moment)
    lines = api.get(STATEMENT, user=member).json()["results"]
    assert {datetime.fromisoformat(line["at"]) for line in lines} == {moment.replace(microsecond=0)}


def test_the_entries_add_up_to_the_used_quota(member: User, api: Api) -> None:
    lines = api.get(STATEMENT, user=member).json()["results"]
    state = api.get(STATEMENT.removesuffix("/statement"), user=member).json()
    assert sum(line["amount"] for line in lines) == state["used"] == state["per_day"] - state["left"] == 1
    assert sum(line["amount"] == 1 for line in lines) == state["attempts_per_day"] - state["attempts_left"] == 3


def test_the_page_shows_the_same_entries(member: User, api: Api, client: Client) -> None:
    page = Page(client.get("/challenges/c/team"))
    for line in api.get(STATEMENT, user=member).json()["results"]:
        assert f"{line['file_name']} {line['reason']} {line['amount']:+d}" in page.words
    assert "2 of 3 left today (UTC)" in page.words


def test_another_team_cannot_see_the_statement(member: User, phase: Phase, make: Make, api: Api) -> None:
    other = make.user()
    make.team(phase.challenge, other)
    assert api.get(STATEMENT, user=other).json()["results"] == []
