"""Tests changes to teams: who is allowed to make them, and the state of teams and people afterwards."""

from datetime import UTC, datetime, timedelta

import pytest

from server.audit.models import Entry
from server.challenges.models import Extension, FormerMember, Membership, Phase, Team
from server.challenges.services import join
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.queries import board
from server.leaderboards.services.verification import verify
from server.submissions.models import QuotaEntry, Submission
from server.submissions.services import quota
from server.teams.models import Invitation
from server.teams.services import changes, invitations, members, merging, profiles
from tests.conftest import Make
from tests.server.conftest import Scored

pytestmark = pytest.mark.usefixtures("inline_queue")
NOW = datetime.now(UTC)


@pytest.fixture
def owls(make: Make, phase: Phase) -> Team:
    return make.team(phase.challenge, make.user(username="ada"), name="Owls")


@pytest.fixture
def crows(make: Make, phase: Phase) -> Team:
    return make.team(phase.challenge, make.user(username="bob"), name="Crows")


def captain(team: Team) -> "Membership":
    return team.memberships.get(is_captain=True)


def merged(team: Team, other: Team) -> Team:
    proposal = merging.propose(team=team, other=other, by=captain(team).user)
    return merging.confirm(proposal=proposal, by=captain(other).user)


@pytest.mark.parametrize(("own_hours", "other_hours", "expected"), [(2, 5, 5), (5, 2, 5), (None, 2, 2), (2, None, 2)])
def test_a_merged_team_keeps_the_later_extension(
    phase: Phase, owls: Team, crows: Team, own_hours: int | None, other_hours: int | None, expected: int
) -> None:
    now = database_now()
    for team, hours in ((owls, own_hours), (crows, other_hours)):
        if hours is not None:
            until = now + timedelta(hours=hours)
            Extension.objects.create(phase=phase, team=team, until=until, granted_at=now, reason="A worker was down.")
    team = merged(owls, crows)
    assert [one.until - now for one in team.extensions.all()] == [timedelta(hours=expected)]


def test_a_link_is_for_one_person_and_ends_after_fourteen_days(make: Make, owls: Team) -> None:
    _, token = invitations.invite_by_link(team=owls, by=captain(owls).user)
    first = invitations.accept_link(token=token, user=make.user(), accept_rules=True)
    assert first.team == owls
    with pytest.raises(Refused, match="no longer valid"):
        invitations.accept_link(token=token, user=make.user(), accept_rules=True)
    _, late = invitations.invite_by_link(team=owls, by=captain(owls).user)
    Invitation.objects.update(expires_at=database_now() - timedelta(seconds=1))
    with pytest.raises(Refused, match="no longer valid"):
        invitations.accept_link(token=late, user=make.user(), accept_rules=True)


def test_the_token_of_a_link_is_not_stored(owls: Team) -> None:
    found, token = invitations.invite_by_link(team=owls, by=captain(owls).user)
    assert token not in str(vars(found))


def test_an_invitation_accepted_without_consent_to_the_rules_stays_open(make: Make, owls: Team) -> None:
    user = make.user()
    found = invitations.invite(team=owls, by=captain(owls).user, username=user.get_username())
    with pytest.raises(Refused) as refused:
        invitations.accept(invitation=found, by=user)
    assert refused.value.code == "rules_not_accepted"
    assert Invitation.objects.filter(pk=found.pk).exists()


def test_only_the_invited_person_accepts_and_only_the_captain_decides_on_requests(make: Make, owls: Team) -> None:
    user, other = make.user(), make.user()
    found = invitations.invite(team=owls, by=captain(owls).user, username=user.get_username())
    with pytest.raises(Refused, match="no longer valid"):
        invitations.accept(invitation=found, by=other, accept_rules=True)
    request = invitations.ask(user=other, team=owls, accept_rules=True)
    with pytest.raises(Refused, match="captain"):
        invitations.accept(invitation=request, by=other)
    assert invitations.accept(invitation=request, by=captain(owls).user).user == other


def test_a_person_alone_in_a_team_without_submissions_moves_and_the_team_is_deleted(owls: Team, crows: Team) -> None:
    bob = captain(crows).user
    found = invitations.invite(team=owls, by=captain(owls).user, username="bob")
    invitations.accept(invitation=found, by=bob)
    assert not Team.objects.filter(pk=crows.pk).exists()
    assert Membership.objects.get(user=bob).team == owls


@pytest.mark.parametrize("is_request", [False, True])
def test_an_accepted_invitation_locks_both_teams_at_once(
    owls: Team, crows: Team, is_request: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = captain(owls).user, captain(crows).user
    asked = invitations.ask(user=ada, team=crows, accept_rules=True) if is_request else None
    token = "" if asked else invitations.invite_by_link(team=crows, by=bob)[1]
    locked: list[set[int]] = []
    monkeypatch.setattr(changes, "lock_teams", lambda teams: locked.append({*teams}))
    if asked:
        invitations.accept(invitation=asked, by=bob)
    else:
        invitations.accept_link(token=token, user=ada, accept_rules=True)
    assert locked[0] == {owls.pk, crows.pk}


def test_a_person_who_leaves_after_a_submission_can_only_return_to_that_team(
    make: Make, phase: Phase, owls: Team, scored: Scored
) -> None:
    mate = make.user()
    Membership.objects.create(team=owls, challenge=phase.challenge, user=mate, rules_accepted_at=NOW)
    scored(phase, 0.5, team=owls)
    members.leave(team=owls, by=mate)
    with pytest.raises(Refused, match=r"return only|only return"):
        join(user=mate, challenge=phase.challenge, accept_rules=True)
    crows = make.team(phase.challenge)
    found = invitations.invite(team=crows, by=captain(crows).user, username=mate.get_username())
    with pytest.raises(Refused, match=r"return only|only return"):
        invitations.accept(invitation=found, by=mate, accept_rules=True)
    back = invitations.invite(team=owls, by=captain(owls).user, username=mate.get_username())
    assert invitations.accept(invitation=back, by=mate, accept_rules=True).team == owls
    assert not FormerMember.objects.exists()


def test_a_captain_must_hand_over_the_role_before_leaving(make: Make, phase: Phase) -> None:
    first, second = make.user(), make.user()
    team = make.team(phase.challenge, first, second)
    with pytest.raises(Refused, match="captain first"):
        members.leave(team=team, by=first)
    members.hand_over(team=team, user=second, by=first)
    members.leave(team=team, by=first)
    assert captain(team).user == second


@pytest.mark.phase(quota_per_day=2)
def test_a_merged_team_has_the_submissions_and_the_exact_ledger_of_both(
    phase: Phase, owls: Team, crows: Team, scored: Scored
) -> None:
    for team, score in ((owls, 0.5), (crows, 0.75)):
        quota.charge(scored(phase, score, team=team), now=NOW)
    team = merged(owls, crows)
    state = quota.state(team=team, phase=phase, now=database_now())
    assert (state.used, state.left) == (2, 0)
    assert {*Submission.objects.values_list("team", flat=True), *QuotaEntry.objects.values_list("team", flat=True)} == {
        owls.pk
    }
    assert list(verify(phase)) == []
    rows = board(phase, split="public", viewer=captain(owls).user).rows
    assert [(row.team, row.score, row.entries) for row in rows] == [("Owls", 0.75, 2)]


def test_members_of_a_merged_team_are_not_named_until_they_agree_again(owls: Team, crows: Team) -> None:
    for team in (owls, crows):
        members.show(team=team, by=captain(team).user, shown=True)
    merged(owls, crows)
    assert dict(owls.memberships.values_list("user__username", "is_shown")) == {"ada": True, "bob": False}


def test_a_leaderboard_before_a_merge_is_shown_as_it_was(phase: Phase, owls: Team, crows: Team, scored: Scored) -> None:
    scored(phase, 0.5, team=owls, at=NOW - timedelta(hours=2))
    scored(phase, 0.75, team=crows, at=NOW - timedelta(hours=2))
    scored(phase, 0.25, team=crows, at=NOW - timedelta(hours=2))
    viewer, before = captain(owls).user, NOW - timedelta(hours=1)

    def shown() -> list[tuple[object, ...]]:
        rows = board(phase, split="public", at=before, viewer=viewer).rows
        return [(row.rank, row.team, row.score, row.entries) for row in rows]

    earlier = shown()
    assert earlier == [(1, "Crows", 0.75, 2), (2, "Owls", 0.5, 1)]
    merged(owls, crows)
    assert shown() == earlier


@pytest.mark.phase(quota_per_day=2, challenge={"opens_at": NOW - timedelta(days=1)})
def test_on_the_day_of_a_merge_a_team_gets_no_more_than_one_team_could_have_had(
    phase: Phase, owls: Team, crows: Team, scored: Scored
) -> None:
    for team in (owls, crows):
        for _ in range(2):
            quota.charge(scored(phase, 0.5, team=team), now=NOW - timedelta(days=1))
    team = merged(owls, crows)
    assert quota.state(team=team, phase=phase, now=database_now()).left == 0
    assert quota.state(team=team, phase=phase, now=database_now() + timedelta(days=1)).left == 2


def test_a_new_name_follows_the_rules_for_names(owls: Team, crows: Team) -> None:
    with pytest.raises(Refused, match="similar name"):
        profiles.rename(team=owls, by=captain(owls).user, name="crows")
    assert profiles.rename(team=owls, by=captain(owls).user, name="OWLS").name == "OWLS"


def test_links_must_be_web_addresses(owls: Team) -> None:
    with pytest.raises(Refused, match="web address"):
        profiles.describe(team=owls, by=captain(owls).user, method="", paper_url="javascript:alert(1)", code_url="")


def test_a_change_of_the_public_page_that_changes_nothing_is_not_recorded(owls: Team) -> None:
    def change() -> None:
        members.show(team=owls, by=captain(owls).user, shown=True)
        profiles.describe(team=owls, by=captain(owls).user, method="x", paper_url="", code_url="")

    change()
    recorded = Entry.objects.count()
    change()
    assert Entry.objects.count() == recorded
