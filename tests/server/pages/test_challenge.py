"""A challenge's front, data, rules and team pages say what they should."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from server.challenges.models import Membership
from server.leaderboards.queries import board
from tests.server.page import Page

DAY = timedelta(days=1)
NOW = datetime.now(UTC)


pytestmark = pytest.mark.phase(
    challenge={"slug": "c", "title": "Cats", "summary": "Find them.", "closes_at": NOW + 3 * DAY}
)


def visit(address: str, person: Any = None) -> Page:
    client = Client()
    if person:
        client.force_login(person)
    return Page(client.get(address))


# Home


def test_home_says_track_teams_time_and_own_team(phase: Any, make: Any) -> None:
    member = make.user()
    make.team(phase.challenge, member, name="Owls")
    make.team(phase.challenge, is_baseline=True)
    words = visit("/", member).words
    assert "Cats Find them. Object detection (Open Images) 1 Closes in 2 d 23 h" in words
    assert "Owls" in words


def test_home_says_the_rank_that_the_board_says(phase: Any, make: Any, scored: Any) -> None:
    member = make.user()
    team = make.team(phase.challenge, member, name="Owls")
    scored(phase, 0.99, team=make.team(phase.challenge, is_baseline=True))
    for value in (0.9, 0.9, 0.2):
        scored(phase, value)
    assert "Owls rank" not in visit("/", member).words
    for value in (0.3, 0.5):
        scored(phase, value, team=team)
    found = board(phase, split="public", viewer=member)
    place = found.place_of(team.pk)
    assert place is not None
    assert found.rows[place].rank == 3
    assert "Owls rank 3" in visit("/", member).words
    assert "Owls rank" not in visit("/").words
    phase.feedback = "ladder"
    phase.save()
    assert "Owls rank" not in visit("/", member).words


def test_home_groups_by_time(make: Any) -> None:
    make.challenge(title="Over", closes_at=NOW - DAY)
    make.challenge(title="Soon", opens_at=NOW + DAY)
    make.challenge(title="Now")
    words = visit("/").words
    order = ["Open challenges", "Now", "Opening later", "Soon", "Closed", "Over"]
    assert sorted(order, key=words.index) == order


def test_an_empty_home_says_so(db: None) -> None:
    assert "There are no challenges yet." in visit("/").words


# Overview: the one thing to do next


def test_a_visitor_is_led_to_sign_up_and_back_to_the_rules(phase: Any) -> None:
    page = visit("/challenges/c/")
    assert "/accounts/signup?next=%2Fchallenges%2Fc%2Frules%23join" in page.links()


def test_someone_with_an_account_is_led_to_the_rules(phase: Any, make: Any) -> None:
    page = visit("/challenges/c/", make.user())
    assert page.all("a", class_="button-main", href="/challenges/c/rules#join")


@pytest.mark.parametrize(
    ("dates", "label"),
    [
        ({}, "Submit a file"),
        ({"opens_at": NOW + DAY}, "Read the data page"),
        ({"closes_at": NOW - DAY}, "See the final leaderboard"),
    ],
)
def test_a_member_is_told_what_comes_next(dates: Any, label: str, make: Any) -> None:
    phase = make.phase(make.challenge(slug="c"), **dates)
    member = make.user()
    make.team(phase.challenge, member)
    assert label in visit("/challenges/c/", member).words


def test_after_registration_nobody_is_asked_to_join(make: Any) -> None:
    make.phase(make.challenge(slug="c", join_until=NOW - DAY))
    words = visit("/challenges/c/").words
    assert "Registration has closed." in words
    assert "Sign up to take part" not in words


def test_the_front_shows_the_five_best_without_baselines(phase: Any, make: Any, scored: Any) -> None:
    for number in range(7):
        scored(phase, number / 10, team=make.team(phase.challenge, name=f"Team {number}"))
    scored(phase, 0.99, team=make.team(phase.challenge, name="Prior", is_baseline=True))
    page = visit("/challenges/c/")
    assert len(page.all("td", class_="rank")) == 5
    assert "Prior" not in page.words
    assert "Teams on the leaderboard 7" in page.words


def test_a_challenge_without_phase_has_its_pages(make: Any) -> None:
    make.challenge(slug="c")
    assert visit("/challenges/c/").status == 200
    assert visit("/challenges/c/data").status == 200
    assert visit("/challenges/c/leaderboard").status == 404


def test_of_several_phases_the_open_one_is_shown(make: Any) -> None:
    challenge = make.challenge(slug="c")
    make.phase(challenge, slug="past", position=0, closes_at=NOW - DAY)
    make.phase(challenge, slug="present", position=1)
    make.phase(challenge, slug="future", position=2, opens_at=NOW + DAY)
    assert visit("/challenges/c/").all("a", href="?phase=present")[0].get("aria-current") == "true"


def test_links_keep_the_phase(make: Any) -> None:
    challenge = make.challenge(slug="c")
    make.phase(challenge, slug="one")
    make.phase(challenge, slug="two")
    assert "/challenges/c/leaderboard?phase=two" in visit("/challenges/c/?phase=two").links()


def test_markdown_of_organizers_is_harmless(make: Any) -> None:
    text = "# Goal\n<script>alert(1)</script>\n[bad](javascript:alert(1)) [good](https://example.org) ![x](y.png)"
    make.phase(make.challenge(slug="c", description=text))
    page = visit("/challenges/c/")
    assert "Goal" in page.words
    assert not page.inline
    assert not any("javascript" in link for link in page.links())
    assert not page.all("img")
    assert "https://example.org" in page.links()


# Data


def test_data_shows_an_example_of_each_shape_to_copy(phase: Any) -> None:
    page = visit("/challenges/c/data")
    assert "ImageId,PredictionString 0001eeaf4aed83f9,/m/01yrx 0.92" in page.words
    assert "ImageID,LabelName,Score,XMin,XMax,YMin,YMax 0001eeaf4aed83f9,/m/01yrx,0.92" in page.words
    assert len(page.all("button", class_="copy")) == 4


def test_the_score_command_has_the_phase_parameters(make: Any) -> None:
    make.phase(make.challenge(slug="c"), parameters={"group_of_weight": 0.0, "expand_hierarchy": False})
    words = visit("/challenges/c/data").words
    assert "--set group_of_weight=0 \\ --set expand_hierarchy=false" in words


def test_limits_come_from_the_settings(phase: Any, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 3 * 2**20
    assert "Uploaded file 3 MiB" in visit("/challenges/c/data").words


def test_the_sample_is_a_file_to_save(phase: Any, client: Client) -> None:
    phase.sample_submission.save("sample.csv", ContentFile(b"ImageId,PredictionString\na,\n"))
    response = client.get("/challenges/c/data/sample")
    assert response["Content-Disposition"] == f'attachment; filename="c-{phase.slug}-sample.csv"'
    assert b"".join(response.streaming_content).endswith(b"a,\n")
    response.close()


def test_without_a_sample_there_is_no_link(phase: Any, client: Client) -> None:
    assert "/challenges/c/data/sample" not in visit("/challenges/c/data").links()
    assert client.get("/challenges/c/data/sample").status_code == 404


# Rules, joining, team


def test_joining_makes_a_team_and_says_so(phase: Any, make: Any, client: Client) -> None:
    person = make.user()
    client.force_login(person)
    response = client.post("/challenges/c/join", {"accept_rules": "on", "team_name": "Owls"}, follow=True)
    assert response.redirect_chain == [("/challenges/c/", 302)]
    assert "You joined Cats as Owls." in Page(response).words
    assert Membership.objects.get(user=person).team.name == "Owls"


def test_without_accepting_the_rules_nobody_joins(phase: Any, make: Any, client: Client) -> None:
    client.force_login(make.user())
    response = client.post("/challenges/c/join", {"team_name": "Owls"})
    page = Page(response)
    assert page.status == 403
    assert "rules_not_accepted" in page.words
    assert page.all("input", name="team_name")[0]["value"] == "Owls"


def test_after_registration_joining_is_refused(make: Any, client: Client) -> None:
    make.phase(make.challenge(slug="c", join_until=NOW - DAY))
    client.force_login(make.user())
    response = client.post("/challenges/c/join", {"accept_rules": "on"})
    assert response.status_code == 409
    assert "registration_closed" in Page(response).words


def test_team_page_names_its_people(phase: Any, make: Any) -> None:
    one, other = make.user(username="ada"), make.user(username="grace")
    make.team(phase.challenge, one, other, name="Owls")
    words = visit("/challenges/c/team", other).words
    assert "ada captain" in words
    assert "grace you member" in words
    assert "Size 2 of at most 5" in words


def test_names_of_either_direction_are_isolated(phase: Any, make: Any, scored: Any) -> None:
    scored(phase, 0.5, team=make.team(phase.challenge, name="العنوان"))
    assert b"<bdi>\xd8\xa7\xd9\x84" in Client().get("/challenges/c/leaderboard").content
