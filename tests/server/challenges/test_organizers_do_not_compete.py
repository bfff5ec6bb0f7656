"""People who can read the private leaderboard of a challenge cannot be participants, and vice versa."""

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse

from server.challenges.disqualification import disqualify, reinstate
from server.challenges.models import Challenge, Membership, Phase
from server.challenges.services import join, join_team
from server.errors import Refused
from server.pages.challenge_context import JoinState
from server.submissions.services import intake
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.page import Page

ROLES = ("organizer", "staff")


pytestmark = [pytest.mark.phase(challenge={"slug": "detection"}, slug="main"), pytest.mark.usefixtures("inline_queue")]


def given(role: str, user: Any, challenge: Challenge) -> Any:
    """Give a user a role directly in the database, because the site does not give participants this role."""
    if role == "staff":
        type(user).objects.filter(pk=user.pk).update(is_staff=True)
    else:
        challenge.organizers.add(user)
    return type(user).objects.get(pk=user.pk)


@pytest.mark.parametrize("role", ROLES)
def test_people_who_can_read_the_private_leaderboard_cannot_join(make: Make, phase: Phase, role: str) -> None:
    user = given(role, make.user(), phase.challenge)
    with pytest.raises(Refused) as refusal:
        join(user=user, challenge=phase.challenge, accept_rules=True)
    assert refusal.value.code == "forbidden"
    with pytest.raises(Refused) as refusal:
        join_team(user=user, team=make.team(phase.challenge), accept_rules=True)
    assert refusal.value.code == "forbidden"
    assert not Membership.objects.filter(user=user).exists()


@pytest.mark.parametrize("role", ROLES)
def test_page_and_api_refuse_organizers_who_want_to_join(make: Make, phase: Phase, api: Api, role: str) -> None:
    user = given(role, make.user(), phase.challenge)
    answer = api.post("challenges/detection/join", {"accept_rules": True}, user=user, scope="submit")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    browser = Client()
    browser.force_login(user)
    assert browser.post(reverse("join", args=["detection"]), {"accept_rules": "on"}).status_code == 403
    rules = browser.get(reverse("challenge_rules", args=["detection"]))
    assert rules.context["join_state"] == JoinState.ORGANIZER
    assert not Page(rules).all("form", action=reverse("join", args=["detection"]))


@pytest.mark.parametrize("role", ROLES)
def test_a_team_with_an_organizer_cannot_submit(make: Make, phase: Phase, api: Api, role: str) -> None:
    mate, user = make.user(), make.user()
    team = make.team(phase.challenge, mate, user)
    given(role, user, phase.challenge)
    file = ContentFile(b"ImageId,PredictionString\na,\n", "p.csv")
    with pytest.raises(Refused) as refusal:
        intake.submit(user=mate, team=team, phase=phase, file=file, note="")
    assert refusal.value.code == "forbidden"
    answer = api.upload("challenges/detection/phases/main/submissions", file=b"x", user=mate, scope="submit")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert not phase.submissions.exists()


def test_the_organizer_of_another_challenge_can_take_part(make: Make, phase: Phase) -> None:
    user = make.user()
    make.challenge(slug="other").organizers.add(user)
    assert join(user=user, challenge=phase.challenge, accept_rules=True)


@pytest.fixture
def staff(make: Make) -> Client:
    browser = Client()
    browser.force_login(make.user(username="root", is_staff=True, is_superuser=True))
    return browser


@pytest.mark.parametrize(("closes_at", "status"), [(None, 200), ("2026-02-01T00:00Z", 302)])
def test_the_admin_refuses_to_make_a_participant_of_a_running_challenge_staff(
    make: Make, phase: Phase, staff: Client, closes_at: str | None, status: int
) -> None:
    ada = make.user(username="ada")
    make.team(phase.challenge, ada)
    Challenge.objects.filter(pk=phase.challenge_id).update(opens_at="2026-01-01T00:00Z", closes_at=closes_at)
    form = {
        **{"username": "ada", "email": "ada@example.org", "is_active": "on", "is_staff": "on"},
        **{"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"},
    }
    assert staff.post(reverse("admin:accounts_user_change", args=[ada.pk]), form).status_code == status


@pytest.mark.parametrize("role", ROLES)
def test_a_team_with_an_organizer_cannot_be_reinstated(make: Make, phase: Phase, role: str) -> None:
    team = make.team(phase.challenge, make.user(), make.user())
    disqualify(team=team, by=None, reason="A member became an organizer.")
    user = given(role, team.memberships.get(is_captain=False).user, phase.challenge)
    with pytest.raises(Refused, match=f"{user}, a member of this team, is staff or an organizer"):
        reinstate(team=team, by=None)
    team.refresh_from_db()
    assert team.disqualified_at is not None
    team.memberships.get(user=user).delete()
    assert reinstate(team=team, by=None).disqualified_at is None
