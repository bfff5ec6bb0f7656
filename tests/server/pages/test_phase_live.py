"""The live page of a phase shows its queue, failures, submissions per day, and changes among the top teams."""

from datetime import date, timedelta

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase
from server.clock import database_now
from server.organize.services.live import DayCount
from server.pages.console.day_chart import day_chart
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main")]
PATH = "/organize/challenges/c/phases/main/live"


@pytest.fixture
def organizer(phase: Phase, member: User) -> User:
    phase.challenge.organizers.add(member)
    return member


def fail(make: Make, phase: Phase, code: str, fault: str) -> Submission:
    ended = {"status": "failed", "failure": "x", "finished_at": database_now()}
    return make.submission(phase, failure_code=code, fault=fault, **ended)


def poll(client: Client) -> tuple[str, int]:
    """Load the page, request its live panel as htmx does, and return the URL and the HTTP status of the panel."""
    address = Page(client.get(PATH)).all("div", id="live")[0]["hx-get"]
    return address, client.get(address).status_code


@pytest.mark.usefixtures("organizer")
def test_the_page_counts_the_queue_and_names_the_oldest_submission(phase: Phase, make: Make, client: Client) -> None:
    now = database_now()
    make.submission(phase, received_at=now - timedelta(hours=3))
    make.submission(phase, received_at=now - timedelta(hours=1))
    make.submission(make.phase(), received_at=now - timedelta(days=3))  # Queues of other challenges are not counted.
    words = Page(client.get(PATH)).words
    assert "In the queue 2 oldest received 3 hours ago" in words


@pytest.mark.usefixtures("organizer")
def test_failures_are_counted_by_code_and_fault(phase: Phase, make: Make, client: Client) -> None:
    for code, fault in (
        *[("out_of_memory", "participant")] * 3,
        *[("accident", "platform")] * 2,
        ("out_of_memory", "platform"),
    ):
        fail(make, phase, code, fault)
    words = Page(client.get(PATH)).words
    assert "Failed 6" in words
    assert "out_of_memory scoring needed too much memory the file 3" in words
    assert "out_of_memory scoring needed too much memory the platform 1" in words
    assert "accident an unexpected error the platform 2" in words


@pytest.mark.usefixtures("organizer")
def test_scores_without_an_interval_are_counted(phase: Phase, scored: Scored, client: Client) -> None:
    scored(phase, 0.5)
    assert "Scored without an interval 1" in Page(client.get(PATH)).words


@pytest.mark.usefixtures("organizer")
def test_the_top_shows_the_change_of_rank_in_a_week(phase: Phase, scored: Scored, make: Make, client: Client) -> None:
    owls, bats = make.team(phase.challenge, name="Owls"), make.team(phase.challenge, name="Bats")
    long_ago = database_now() - timedelta(days=20)
    scored(phase, 0.5, team=owls, at=long_ago)
    scored(phase, 0.4, team=bats, at=long_ago)
    scored(phase, 0.6, team=bats)
    words = Page(client.get(PATH)).words
    assert "1 Bats 1 rank up" in words
    assert "2 Owls 1 rank down" in words


@pytest.mark.usefixtures("organizer")
def test_the_panel_is_only_sent_again_when_a_figure_has_changed(phase: Phase, make: Make, client: Client) -> None:
    address, status = poll(client)
    assert status == 204
    make.submission(phase)
    answer = client.get(address)
    assert answer.status_code == 200
    assert "In the queue 1" in Page(answer).words


def test_the_panel_of_somebody_who_has_logged_out_leads_to_the_login(phase: Phase) -> None:
    answer = Client().get(f"{PATH}/panel")
    assert answer.status_code == 401
    assert answer["HX-Redirect"].startswith("/accounts/login")


@pytest.mark.usefixtures("organizer")
def test_private_scores_are_not_on_the_page(phase: Phase, scored: Scored, client: Client) -> None:
    scored(phase, 0.5, private=0.31415)
    assert "0.31415" not in client.get(PATH).content.decode()


def test_the_bars_of_the_chart_are_as_high_as_their_numbers() -> None:
    days = [DayCount(date(2026, 3, number), number, 0) for number in (1, 2, 4)]
    chart = day_chart(days)
    low, middle, high = (bar.height for bar in chart.bars)
    assert (middle / low, high / low) == (2, 4)
    assert [text for _, text in chart.y_ticks] == ["0", "1", "2", "3", "4"]
    assert chart.bars[2].title == "4 Mar: 4 received, 0 failed"


def test_the_chart_of_days_without_submissions_has_no_height() -> None:
    chart = day_chart([DayCount(date(2026, 3, 1), 0, 0)])
    assert [bar.height for bar in chart.bars] == [0]
    assert chart.rows == []
