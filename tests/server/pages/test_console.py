"""The console lists the challenges that a user organizes. The page header of organizers and staff links to it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from server.accounts.models import User
from server.challenges.models import Phase
from server.clock import database_now, midnight
from tests.conftest import Make
from tests.recorded_login import log_in

LINK = '<a href="/organize/"'


@pytest.fixture
def organizer(make: Make, phase: Phase) -> User:
    user = make.user()
    phase.challenge.organizers.add(user)
    return user


def read(user: User | None, address: str = "/organize/", *, status: int = 200) -> str:
    client = Client()
    if user is not None:
        client.force_login(user)
    response = client.get(address)
    assert response.status_code == status
    return " ".join(response.content.decode().split())


def test_the_header_of_an_organizer_links_to_the_console(organizer: User) -> None:
    assert LINK in read(organizer, "/help/")


def test_the_header_of_staff_links_to_the_console(make: Make) -> None:
    assert LINK in read(make.user(is_staff=True), "/help/")


def test_the_header_of_everybody_else_has_no_link_to_the_console(make: Make) -> None:
    assert LINK not in read(make.user(), "/help/")
    assert LINK not in read(None, "/help/")


def test_the_link_in_the_header_needs_no_query(make: Make, organizer: User) -> None:
    def count(user: User) -> int:
        client = Client()
        log_in(client, user.username)
        with CaptureQueriesContext(connection) as queries:
            client.get("/help/")
        return len(queries)

    assert count(organizer) == count(make.user()) == 1  # The only query reads the session and its account.


def test_people_who_organize_nothing_are_refused(make: Make) -> None:
    read(make.user(), status=403)


def test_the_console_lists_only_the_challenges_that_a_person_organizes(organizer: User, make: Make) -> None:
    make.phase(make.challenge(title="Of somebody else"))
    assert "Of somebody else" not in read(organizer)
    assert "Of somebody else" in read(make.user(is_staff=True))


@pytest.mark.phase(challenge={"slug": "c", "title": "Owls in flight"}, slug="main", title="Main phase")
def test_the_console_shows_the_numbers_of_each_phase(organizer: User, phase: Phase, make: Make) -> None:
    team = make.team(phase.challenge)
    make.team(phase.challenge, is_baseline=True)
    now = database_now()
    failed = {"status": "failed", "fault": "platform", "failure": "x", "finished_at": now}
    for _ in range(3):
        make.submission(phase, team, received_at=midnight(now) - timedelta(hours=1), **failed)
    for _ in range(2):
        make.submission(phase, team, received_at=midnight(now))
    # The numbers of a phase do not include submissions to other challenges.
    make.submission(make.phase(), status="queued")

    page = read(organizer)

    assert "Owls in flight" in page
    assert "1 team<" in page
    assert '<a href="/organize/challenges/c/phases/main/live">' in page
    for label, number in (("Today:", 2), ("In the queue:", 2), ("Failed:", 3)):
        assert f'data-label="{label}">{number}</td>' in page


@pytest.mark.parametrize(
    ("opens", "closes", "state"), [(-2, -1, "closed"), (-1, 1, "open"), (1, 2, "opens later"), (-1, None, "open")]
)
def test_the_state_of_a_phase_follows_its_dates(
    opens: int, closes: int | None, state: str, organizer: User, phase: Phase
) -> None:
    now = datetime.now(UTC)
    closing = None if closes is None else now + timedelta(days=closes)
    Phase.objects.update(opens_at=now + timedelta(days=opens), closes_at=closing)
    assert f'<td class="nowrap"> {state} </td>' in read(organizer)


@pytest.mark.parametrize(("closes", "is_shown"), [(1, True), (-1, False)])
def test_the_console_shows_that_the_gate_keeps_a_phase_closed(
    closes: int, is_shown: bool, organizer: User, phase: Phase
) -> None:
    assert "gate not green" not in read(organizer)
    phase.truths.update(gate=None)
    Phase.objects.update(closes_at=datetime.now(UTC) + timedelta(days=closes))
    assert ("gate not green" in read(organizer)) == is_shown


@pytest.mark.parametrize("address", ["/organize/", "/organize/challenges/c"])
@pytest.mark.phase(challenge={"slug": "c"}, slug="main")
def test_the_number_of_queries_does_not_depend_on_the_number_of_phases(
    address: str, organizer: User, phase: Phase, make: Make
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            read(organizer, address)
        return len(queries)

    before = count()
    for _ in range(3):
        make.phase(phase.challenge)
    assert count() == before


def test_the_next_date_is_the_first_that_has_not_passed(organizer: User, phase: Phase) -> None:
    now = datetime.now(UTC)
    phase.challenge.closes_at = now + timedelta(days=9)
    phase.challenge.join_until = now + timedelta(days=3)
    phase.challenge.merge_until = now - timedelta(days=3)
    phase.challenge.save()
    page = read(organizer)
    assert "registration ends <time" in page
    assert "closes <time" not in page
    assert "team changes" not in page
    phase.freeze_at = now + timedelta(days=2)
    phase.save()
    assert "leaderboard freezes <time" in read(organizer)


def test_a_challenge_that_needs_two_factor_authentication_is_named_but_not_shown(organizer: User, phase: Phase) -> None:
    type(phase.challenge).objects.update(organizers_need_two_factor=True)
    page = read(organizer)
    assert "must use two-factor authentication" in page
    assert phase.title not in page


def test_the_number_of_queries_does_not_grow_with_the_number_of_challenges(organizer: User, make: Make) -> None:
    client = Client()
    client.force_login(organizer)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/organize/").status_code == 200
        return len(queries)

    count()  # This request fills the caches before queries are counted.
    few = count()
    for _ in range(5):
        phase = make.phase()
        phase.challenge.organizers.add(organizer)
        make.submission(phase)
    assert count() == few


@pytest.mark.phase(challenge={"slug": "c"}, slug="main")
def test_the_page_of_a_phase_links_to_everything_that_organizers_can_do(organizer: User, phase: Phase) -> None:
    page = read(organizer, "/organize/challenges/c/phases/main/live")
    for address in (
        *("/organize/", "/organize/challenges/c", "/organize/challenges/c/phases/main"),
        *("/challenges/c/changes?phase=main", "/challenges/c/announcements", "/challenges/c/organizers"),
        "/challenges/c/leaderboard?phase=main",
    ):
        assert f'href="{address}"' in page


ORGANIZED = ("", "/edit", "/new-phase", "/archive", "/delete")
OF_PHASE = ("", "/live", "/submissions", "/unusual", "/intake", "/edit", "/clone", "/reveal")


@pytest.mark.phase(challenge={"slug": "c"}, slug="main")
@pytest.mark.parametrize("page", [*ORGANIZED, *(f"/phases/main{page}" for page in OF_PHASE)])
def test_the_organize_tab_is_marked_on_every_page_below_it(organizer: User, page: str) -> None:
    shown = read(organizer, f"/organize/challenges/c{page}")
    marked = "page" if not page else "true"
    assert f'href="/organize/challenges/c" aria-current="{marked}"' in shown
