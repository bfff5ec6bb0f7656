"""Tests the deletion of accounts: what is removed, and what is kept anonymously.

Also tests which roles must be handed over before an account can be deleted.
"""

import json
from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from server.accounts.models import User
from server.accounts.services import issue_token
from server.audit.models import Entry
from server.audit.verification import faults
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.notices.models import Event, Notice
from server.notices.services import announcing
from server.personal_data.deletion import delete_account
from server.submissions.models import Submission
from server.submissions.services import lifecycle, scheduling
from server.teams.models import TeamProfile
from server.teams.services import merging
from tests.conftest import PASSWORD, Make
from tests.server.conftest import Scored, backdate
from tests.server.documented import Api
from tests.server.page import Page

ADDRESS = "/accounts/data/delete"
BOARD = "/challenges/c/leaderboard"
NOW = timezone.now()


@pytest.fixture
def ada(make: Make) -> User:
    return make.user(username="adalovelace")


@pytest.fixture
def solo(phase: Phase, ada: User, make: Make, scored: Scored) -> Submission:
    """Create a scored submission from a team that is named after its only member."""
    team = make.team(phase.challenge, ada, name="adalovelace")
    TeamProfile.objects.create(team=team, method="Method of adalovelace")
    return scored(phase, 0.5, team=team, note="by adalovelace", file_name="adalovelace.csv")


def log_in(user: User) -> Client:
    client = Client()
    client.post("/accounts/login", {"login": user.username, "password": PASSWORD})
    client.post("/accounts/again", {"password": PASSWORD})
    return client


def test_a_deletion_requires_the_password_and_the_username(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    assert client.post(ADDRESS, {"username": "adalovelace"}).url.startswith("/accounts/again")
    client = log_in(ada)
    assert client.post(ADDRESS, {"username": "ada"}).status_code == 422
    assert User.objects.filter(pk=ada.pk).exists()
    assert client.post(ADDRESS, {"username": "adalovelace"}).url == "/"
    assert not User.objects.filter(pk=ada.pk).exists()


def test_sessions_and_tokens_of_a_deleted_account_end(ada: User, api: Api) -> None:
    _, secret = issue_token(user=ada, name="x", scope="read", days=1)
    one, other = log_in(ada), log_in(ada)
    one.post(ADDRESS, {"username": "adalovelace"})
    assert other.get("/accounts/").status_code == 302
    assert Client().get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"}).status_code == 401
    assert not UserSession.objects.exists()
    assert Session.objects.count() <= 1  # One anonymous session may remain, with a message for the next page.


@pytest.mark.phase(challenge={"slug": "c"})
def test_the_rank_of_a_team_of_one_remains_without_the_name(solo: Submission, ada: User, client: Client) -> None:
    client.get(BOARD)  # Cache the leaderboard while it contains the user's name.
    delete_account(ada)
    words = Page(client.get(BOARD)).words
    assert f"Withdrawn {solo.team_id}" in words
    assert "adalovelace" not in words
    assert "adalovelace" not in b"".join(client.get(f"{BOARD}.csv")).decode()


@pytest.mark.phase(challenge={"slug": "c"})
def test_earlier_leaderboards_do_not_show_the_name(solo: Submission, ada: User, client: Client) -> None:
    backdate(solo.evaluations.get(), timezone.now() - timedelta(days=3))
    earlier = f"{BOARD}?at={timezone.now() - timedelta(days=1):%Y-%m-%dT%H:%M}"
    assert "adalovelace" in Page(client.get(earlier)).words
    delete_account(ada)
    words = Page(client.get(earlier)).words
    assert f"Withdrawn {solo.team_id}" in words
    assert "adalovelace" not in words


@pytest.mark.phase(challenge={"slug": "c"})
def test_earlier_leaderboards_do_not_show_the_name_of_a_merged_team(
    solo: Submission, ada: User, make: Make, client: Client
) -> None:
    owls = make.team(solo.phase.challenge, make.user(username="eve"), name="Owls")
    backdate(solo.evaluations.get(), timezone.now() - timedelta(days=3))
    proposal = merging.propose(team=owls, other=solo.team, by=User.objects.get(username="eve"))
    merging.confirm(proposal=proposal, by=ada)
    earlier = f"{BOARD}?at={timezone.now() - timedelta(days=1):%Y-%m-%dT%H:%M}"
    response = client.get(earlier)
    assert "adalovelace" in Page(response).words
    delete_account(ada)
    changed = client.get(earlier, headers={"If-None-Match": response["ETag"]})
    assert f"Withdrawn {solo.team_id}" in Page(changed).words
    assert not Team.objects.filter(name__contains="adalovelace").exists()


def test_a_team_named_after_the_person_gets_a_neutral_name(phase: Phase, ada: User, make: Make) -> None:
    team = make.team(phase.challenge, make.user(), ada, name="AdaLovelace")
    delete_account(ada)
    team.refresh_from_db()
    assert team.name == f"Team {team.pk}"


def test_no_row_contains_the_name_of_a_deleted_person(solo: Submission, ada: User, make: Make) -> None:
    merged = make.team(solo.phase.challenge, is_baseline=False, name="adalovelace 2")
    Team.objects.filter(pk=merged.pk).update(merged_into=solo.team, merged_at=timezone.now())
    log_in(ada)
    issue_token(user=ada, name="laptop of adalovelace", scope="read", days=1)
    event = Event.objects.create(
        kind="scored", key="1", challenge=solo.phase.challenge, text="adalovelace.csv was scored.", happened_at=NOW
    )
    Notice.objects.create(event=event, user=ada)
    for row in (ada, solo, solo.team):
        LogEntry.objects.log_actions(make.user(is_staff=True).pk, [row], 2, "Changed adalovelace.")
    delete_account(ada)
    for model in (Team, Submission, User, Entry, TeamProfile, UserSession, Event, LogEntry):
        rows = [*model._default_manager.values()]
        assert "adalovelace" not in json.dumps(rows, default=str), model


def test_the_audit_log_remains_valid_and_shows_only_the_number_of_the_account(solo: Submission, ada: User) -> None:
    issue_token(user=ada, name="x", scope="read", days=1)
    number, entry = ada.pk, Entry.objects.get(action="token.issued")
    assert entry.actor == "adalovelace"
    delete_account(ada)
    assert entry.actor == f"deleted account {number}"
    assert Entry.objects.get(action="user.deleted").subject == f"user {number}"
    assert not list(faults())


def test_a_captain_must_hand_over_the_role_first(phase: Phase, ada: User, make: Make) -> None:
    bob = make.user()
    team = make.team(phase.challenge, ada, bob)
    with pytest.raises(Refused, match="You are the captain of team"):
        delete_account(ada)
    client = log_in(ada)
    page = Page(client.get(ADDRESS))
    assert "leave the team" in page.words
    assert client.post(ADDRESS, {"username": "adalovelace"}).status_code == 409
    team.memberships.filter(user=ada).update(is_captain=False)
    team.memberships.filter(user=bob).update(is_captain=True)
    delete_account(ada)
    assert [*team.memberships.values_list("user", flat=True)] == [bob.pk]


def test_a_team_with_other_members_keeps_its_submissions(phase: Phase, ada: User, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge, make.user(), ada, name="Owls")
    one = scored(phase, 0.5, team=team, user=ada, note="a note")
    delete_account(ada)
    one.refresh_from_db()
    team.refresh_from_db()
    assert (one.user, one.note, team.name) == (None, "a note", "Owls")


def test_a_team_that_has_not_submitted_is_deleted(phase: Phase, ada: User, make: Make) -> None:
    team = make.team(phase.challenge, ada)
    delete_account(ada)
    assert not Team.objects.filter(pk=team.pk).exists()


def test_the_account_of_the_only_owner_cannot_be_deleted(phase: Phase, ada: User, make: Make) -> None:
    phase.challenge.organizers.add(ada)
    with pytest.raises(Refused, match="only owner"):
        delete_account(ada)
    phase.challenge.organizers.add(make.user(), through_defaults={"role": "editor"})
    with pytest.raises(Refused, match="only owner"):
        delete_account(ada)
    phase.challenge.organizers.add(make.user())
    announcing.announce(challenge=phase.challenge, by=ada, title="x", text="x")
    delete_account(ada)
    assert phase.challenge.announcements.get().announced_by is None


def test_the_account_of_the_last_operator_cannot_be_deleted(make: Make) -> None:
    root = make.user(is_staff=True, is_superuser=True)
    with pytest.raises(Refused, match="only operator account"):
        delete_account(root)


def test_a_running_submission_is_cancelled(phase: Phase, ada: User, make: Make, inline_queue: Any) -> None:
    team = make.team(phase.challenge, ada)
    one = make.submission(phase, team)
    running = scheduling.claim_next(Submission, large=True)
    assert running == one
    delete_account(ada)
    one.refresh_from_db()
    assert (one.status, one.user, one.note) == ("cancelled", None, "")
    # The submission is cancelled, so the worker has lost its lease (its claim on the job).
    assert lifecycle.reject(running, findings={}) is False
    one.refresh_from_db()
    assert one.status == "cancelled"


def test_a_running_submission_of_a_larger_team_continues(
    phase: Phase, ada: User, make: Make, inline_queue: Any
) -> None:
    one = make.submission(phase, make.team(phase.challenge, make.user(), ada), user=ada)
    running = scheduling.claim_next(Submission, large=True)
    delete_account(ada)
    assert running is not None
    assert lifecycle.reject(running, findings={}) is True
    one.refresh_from_db()
    assert (one.status, one.user) == ("rejected", None)
