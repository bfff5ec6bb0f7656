"""Tests the front page, and the pages of a challenge: overview, data, rules and team."""

from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from pytest_django import Settings

from evaluator import __version__
from server.challenges.models import Challenge, Membership, Phase
from server.leaderboards.queries import board
from tests.conftest import Make
from tests.server.conftest import Scored
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


def test_the_front_page_lists_track_teams_time_and_the_users_team(phase: Phase, make: Make) -> None:
    member = make.user()
    make.team(phase.challenge, member, name="Owls")
    make.team(phase.challenge, is_baseline=True)
    page = visit("/", member)
    ((_, (listed,)),) = page.context["groups"]
    assert (listed.tracks, listed.teams, listed.own_team) == ("Object detection (Open Images)", 1, "Owls")
    assert "Closes in 2 days 23 hours" in page.words


def test_the_front_page_shows_the_same_rank_as_the_leaderboard(phase: Phase, make: Make, scored: Scored) -> None:
    member = make.user()
    team = make.team(phase.challenge, member, name="Owls")
    scored(phase, 0.99, team=make.team(phase.challenge, is_baseline=True))
    for value in (0.9, 0.9, 0.2):
        scored(phase, value)
    assert "Owls rank" not in visit("/", member).words
    for value in (0.3, 0.5):
        scored(phase, value, team=team)
    found = board(phase, split="public", viewer=member)
    placed = found.row_and_index_of(team.pk)
    assert placed is not None
    assert found.rows[placed[1]] == placed[0]
    assert placed[0].rank == 3
    assert "Owls rank 3" in visit("/", member).words
    assert "Owls rank" not in visit("/").words
    phase.feedback = "ladder"
    phase.save()
    assert "Owls rank" not in visit("/", member).words


def test_the_front_page_groups_challenges_by_time(make: Make) -> None:
    make.challenge(title="Over", closes_at=NOW - DAY)
    make.challenge(title="Soon", opens_at=NOW + DAY)
    make.challenge(title="Now")
    groups = visit("/").context["groups"]
    assert [[listed.challenge.title for listed in group] for _, group in groups] == [["Now"], ["Soon"], ["Over"]]


def test_a_front_page_without_challenges_is_not_blank(db: None) -> None:
    assert visit("/").all("div", class_="empty")


def test_the_button_of_a_visitor_leads_to_sign_up_and_then_to_the_submit_page(phase: Phase) -> None:
    page = visit("/challenges/c/")
    assert "/accounts/signup?next=%2Fchallenges%2Fc%2Fsubmit" in page.links()


def test_the_button_of_a_user_leads_to_the_submit_page(phase: Phase, make: Make) -> None:
    page = visit("/challenges/c/", make.user())
    assert page.all("a", class_="button-main", href="/challenges/c/submit")


@pytest.mark.parametrize("fields", [{"registration": "approval"}, {"opens_at": NOW + DAY}])
def test_the_button_leads_to_the_rules_while_no_file_can_be_submitted(fields: Any, make: Make) -> None:
    make.phase(make.challenge(slug="c", **fields))
    assert visit("/challenges/c/", make.user()).all("a", class_="button-main", href="/challenges/c/rules#join")
    assert "/accounts/signup?next=%2Fchallenges%2Fc%2Frules%23join" in visit("/challenges/c/").links()


@pytest.mark.parametrize(
    ("dates", "target"),
    [({}, "submit"), ({"opens_at": NOW + DAY}, "data"), ({"closes_at": NOW - DAY}, "leaderboard")],
)
def test_the_button_of_a_member_depends_on_the_dates_of_the_phase(dates: Any, target: str, make: Make) -> None:
    phase = make.phase(make.challenge(slug="c"), **dates)
    member = make.user()
    make.team(phase.challenge, member)
    assert visit("/challenges/c/", member).all("a", class_="button-main", href=f"/challenges/c/{target}")


def test_the_button_does_not_lead_to_the_submit_page_before_the_gate_is_green(phase: Phase, make: Make) -> None:
    member, other = make.user(), make.user()
    make.team(phase.challenge, member)
    phase.truths.update(gate=None)
    page = visit("/challenges/c/", member)
    assert (page.context["button"].label, "This phase is not open yet" in page.words) == ("Read the data page", True)
    assert visit("/challenges/c/", other).context["button"].label == "Join this challenge"


def test_after_registration_the_button_leads_to_the_leaderboard(make: Make) -> None:
    make.phase(make.challenge(slug="c", join_until=NOW - DAY))
    assert visit("/challenges/c/").all("a", class_="button-main", href="/challenges/c/leaderboard")
    assert visit("/challenges/c/rules").context["join_state"] == "closed"


def test_the_overview_shows_the_five_best_teams_without_baselines(phase: Phase, make: Make, scored: Scored) -> None:
    for number in range(7):
        scored(phase, number / 10, team=make.team(phase.challenge, name=f"Team {number}"))
    scored(phase, 0.99, team=make.team(phase.challenge, name="Prior", is_baseline=True))
    page = visit("/challenges/c/")
    assert len(page.all("td", class_="rank")) == 5
    assert "Prior" not in page.words
    assert page.context["teams"] == 7


def test_a_challenge_without_a_phase_has_pages_but_no_leaderboard(make: Make) -> None:
    make.challenge(slug="c")
    assert visit("/challenges/c/").status == 200
    assert visit("/challenges/c/data").status == 200
    assert visit("/challenges/c/leaderboard").status == 404


def test_the_open_phase_is_shown_by_default(make: Make) -> None:
    challenge = make.challenge(slug="c")
    make.phase(challenge, slug="past", position=0, closes_at=NOW - DAY)
    make.phase(challenge, slug="present", position=1)
    make.phase(challenge, slug="future", position=2, opens_at=NOW + DAY)
    assert visit("/challenges/c/").all("a", href="?phase=present")[0].get("aria-current") == "true"


def test_links_keep_the_phase(make: Make) -> None:
    challenge = make.challenge(slug="c")
    make.phase(challenge, slug="one")
    make.phase(challenge, slug="two")
    assert "/challenges/c/leaderboard?phase=two" in visit("/challenges/c/?phase=two").links()


def test_markdown_of_organizers_cannot_run_code(make: Make) -> None:
    text = "# Goal\n<script>alert(1)</script>\n[bad](javascript:alert(1)) [good](https://example.org) ![x](y.png)"
    make.phase(make.challenge(slug="c", description=text))
    page = visit("/challenges/c/")
    assert "Goal" in page.words
    assert not page.inline
    assert not any("javascript" in link for link in page.links())
    assert not page.all("img")
    assert "https://example.org" in page.links()


def test_the_data_page_shows_an_example_of_each_format_to_copy(phase: Phase) -> None:
    page = visit("/challenges/c/data")
    assert "ImageId,PredictionString 0001eeaf4aed83f9,/m/01yrx 0.92" in page.words
    assert "ImageID,LabelName,Score,XMin,XMax,YMin,YMax 0001eeaf4aed83f9,/m/01yrx,0.92" in page.words
    two_examples, four_commands, commitment = 2, 4, 1
    assert len(page.all("button", class_="copy")) == two_examples + four_commands + commitment


def test_the_data_page_begins_with_the_format_and_ends_with_the_organizers_text(make: Make) -> None:
    make.phase(make.challenge(slug="c", data="# Licence\nCC BY 4.0"), slug="main")
    page = visit("/challenges/c/data")
    order = ["What to submit", "Example", "Check your file on your machine", "Columns", "Licence", "How it is scored"]
    places = [page.words.index(words) for words in order]
    assert places == sorted(places)


def test_the_install_command_downloads_an_archive_with_the_version_of_the_server(
    phase: Phase, settings: Settings, client: Client
) -> None:
    settings.PODIUM_URL = "https://podium.example.org"
    assert visit("/challenges/c/data").context["install"] == "pip install https://podium.example.org/podium.zip"
    response = client.get("/podium.zip")
    with ZipFile(BytesIO(b"".join(response.streaming_content))) as archive:
        assert f'"{__version__}"'.encode() in archive.read("podium/evaluator/__init__.py")
        assert {name.partition("/")[0] for name in archive.namelist()} == {"podium"}
        assert archive.read("podium/pyproject.toml")


def test_the_score_command_contains_the_parameters_of_the_phase(make: Make) -> None:
    make.phase(make.challenge(slug="c"), parameters={"group_of_weight": 0.0, "expand_hierarchy": False})
    command = visit("/challenges/c/data").context["format"].score_command
    assert "--set group_of_weight=0 \\\n    --set expand_hierarchy=false" in command


def test_limits_come_from_the_settings(phase: Phase, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 3 * 2**20
    assert dict(visit("/challenges/c/data").context["limits"])["Uploaded file"] == "3 MiB"


def test_the_template_file_is_a_download(phase: Phase, client: Client) -> None:
    phase.sample_submission.save("sample.csv", ContentFile(b"ImageId,PredictionString\na,\n"))
    response = client.get("/challenges/c/data/sample")
    assert response["Content-Disposition"] == f'attachment; filename="c-{phase.slug}-template.csv"'
    assert b"".join(response.streaming_content).endswith(b"a,\n")
    response.close()


def test_without_a_sample_there_is_no_link(phase: Phase, client: Client) -> None:
    assert "/challenges/c/data/sample" not in visit("/challenges/c/data").links()
    assert client.get("/challenges/c/data/sample").status_code == 404


def test_joining_creates_a_team(phase: Phase, make: Make, client: Client) -> None:
    person = make.user()
    client.force_login(person)
    response = client.post("/challenges/c/join", {"accept_rules": "on", "team_name": "Owls"}, follow=True)
    assert response.redirect_chain == [("/challenges/c/", 302)]
    assert Page(response).all("p", class_="notice-success")
    assert Membership.objects.get(user=person).team.name == "Owls"


def test_joining_without_accepting_the_rules_is_refused(phase: Phase, make: Make, client: Client) -> None:
    client.force_login(make.user())
    response = client.post("/challenges/c/join", {"team_name": "Owls"})
    page = Page(response)
    assert page.status == 403
    assert "rules_not_accepted" in page.words
    assert page.all("input", name="team_name")[0]["value"] == "Owls"


def test_after_registration_joining_is_refused(make: Make, client: Client) -> None:
    make.phase(make.challenge(slug="c", join_until=NOW - DAY))
    client.force_login(make.user())
    response = client.post("/challenges/c/join", {"accept_rules": "on"})
    assert response.status_code == 409
    assert "registration_closed" in Page(response).words


def test_the_team_page_lists_members_with_their_roles(phase: Phase, make: Make) -> None:
    one, other = make.user(username="ada"), make.user(username="grace")
    make.team(phase.challenge, one, other, name="Owls")
    words = visit("/challenges/c/team", other).words
    assert "ada captain" in words
    assert "grace you member" in words


def test_names_in_scripts_of_both_directions_are_isolated(phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.5, team=make.team(phase.challenge, name="العنوان"))
    assert b"<bdi>\xd8\xa7\xd9\x84" in Client().get("/challenges/c/leaderboard").content


@pytest.mark.parametrize("name", ["", "data", "rules", "leaderboard", "announcements", "submit", "submissions", "team"])
def test_every_page_of_a_challenge_shows_the_contact_address(name: str, phase: Phase, make: Make) -> None:
    Challenge.objects.update(contact="owls@example.org")
    member = make.user()
    make.team(phase.challenge, member)
    page = visit(f"/challenges/c/{name}", member)
    assert "mailto:owls@example.org" in page.links()
    assert page.words.count("Contact the organizers: owls@example.org") == 1


def test_a_refused_request_shows_the_contact_address_to_everybody_who_sees_the_challenge(
    phase: Phase, make: Make
) -> None:
    Challenge.objects.update(contact="owls@example.org")
    stranger = make.user()
    refused = visit("/challenges/c/submissions", stranger)
    assert (refused.status, "mailto:owls@example.org" in refused.links()) == (403, True)
    Challenge.objects.update(visibility="private")
    assert Challenge.objects.contact_of("c", reader=stranger) == ""
