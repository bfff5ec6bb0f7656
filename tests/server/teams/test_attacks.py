"""Changes to teams cannot be used to gain quota, join a second team, see other teams' data, or evade a rule."""

from datetime import timedelta

import pytest

from server.accounts.models import User
from server.challenges import disqualification
from server.challenges.models import Challenge, FormerMember, Membership, Phase, Team
from server.challenges.services import join
from server.clock import database_now
from server.errors import Refused
from server.submissions.models import Submission
from server.submissions.services import choices
from server.teams.models import Invitation, MergeProposal
from server.teams.services import invitations, members, merging, profiles
from tests.conftest import Make
from tests.server.conftest import Scored

pytestmark = pytest.mark.usefixtures("inline_queue")


@pytest.fixture
def ada(make: Make) -> User:
    return make.user(username="ada")


@pytest.fixture
def bob(make: Make) -> User:
    return make.user(username="bob")


@pytest.fixture
def owls(make: Make, phase: Phase, ada: User) -> Team:
    return make.team(phase.challenge, ada, name="Owls")


@pytest.fixture
def crows(make: Make, phase: Phase, bob: User) -> Team:
    return make.team(phase.challenge, bob, name="Crows")


def test_a_rejected_file_binds_a_team_even_if_it_used_no_quota(
    make: Make, phase: Phase, owls: Team, crows: Team, ada: User, bob: User
) -> None:
    make.submission(phase, crows, status="rejected", fault="participant", finished_at=database_now())
    _, token = invitations.invite_by_link(team=owls, by=ada)
    with pytest.raises(Refused, match="Merge the teams"):
        invitations.accept_link(token=token, user=bob, accept_rules=True)
    with pytest.raises(Refused, match="only member"):
        members.leave(team=crows, by=bob)


def test_a_person_who_left_a_team_that_has_submitted_cannot_join_again_in_any_way(
    make: Make, phase: Phase, scored: Scored, ada: User, bob: User
) -> None:
    team = make.team(phase.challenge, ada, bob, name="Owls")
    other, captain = make.team(phase.challenge, eve := make.user(), name="Crows"), eve
    scored(phase, 0.5, team=team)
    members.leave(team=team, by=bob)
    with pytest.raises(Refused, match=r"return only|only return"):
        join(user=bob, challenge=phase.challenge, accept_rules=True)
    _, token = invitations.invite_by_link(team=other, by=captain)
    with pytest.raises(Refused, match=r"return only|only return"):
        invitations.accept_link(token=token, user=bob, accept_rules=True)
    asked = invitations.ask(user=bob, team=other, accept_rules=True)
    with pytest.raises(Refused, match=r"return only|only return"):
        invitations.accept(invitation=asked, by=captain)
    assert FormerMember.objects.get().user == bob
    assert not Membership.objects.filter(user=bob).exists()


def test_members_of_a_disqualified_team_cannot_escape_the_disqualification(
    make: Make, phase: Phase, owls: Team, crows: Team, ada: User, bob: User
) -> None:
    disqualification.disqualify(team=crows, by=None, reason="Two accounts")
    for change in (
        lambda: merging.propose(team=owls, other=crows, by=ada),
        lambda: merging.propose(team=crows, other=owls, by=bob),
        lambda: invitations.invite_by_link(team=crows, by=bob),
        lambda: members.leave(team=crows, by=bob),
        lambda: invitations.accept_link(
            token=invitations.invite_by_link(team=owls, by=ada)[1], user=bob, accept_rules=True
        ),
    ):
        with pytest.raises(Refused):
            change()
    assert crows.memberships.get().user == bob


def test_a_team_that_is_disqualified_after_a_proposal_is_not_merged(
    owls: Team, crows: Team, ada: User, bob: User
) -> None:
    proposal = merging.propose(team=owls, other=crows, by=ada)
    disqualification.disqualify(team=owls, by=None, reason="Two accounts")
    with pytest.raises(Refused, match="disqualified"):
        merging.confirm(proposal=proposal, by=bob)
    assert MergeProposal.objects.get() == proposal


def test_a_merge_does_not_reveal_that_a_team_was_disqualified_without_a_shown_reason(
    owls: Team, crows: Team, ada: User
) -> None:
    disqualification.disqualify(team=crows, by=None, reason="Two accounts", show=False)
    with pytest.raises(Refused, match="do not allow changes to Crows"):
        merging.propose(team=owls, other=crows, by=ada)


def test_the_final_choices_of_both_teams_must_not_exceed_those_of_one_team(
    phase: Phase, owls: Team, crows: Team, ada: User, bob: User, scored: Scored
) -> None:
    for team in (owls, crows):
        for _ in range(2):
            scored(phase, 0.5, team=team, final=True)
    proposal = merging.propose(team=owls, other=crows, by=ada)
    with pytest.raises(Refused, match="Deselect"):
        merging.confirm(proposal=proposal, by=bob)
    for one in Submission.objects.filter(team=crows):
        choices.set_final(submission=one, by=bob, final=False)
    merging.confirm(proposal=proposal, by=bob)
    assert Submission.objects.filter(team=owls, final=True).count() == 2


def test_after_the_challenge_has_closed_nobody_can_join_or_merge_teams(
    phase: Phase, owls: Team, crows: Team, ada: User, bob: User, make: Make
) -> None:
    _, token = invitations.invite_by_link(team=owls, by=ada)
    proposal = merging.propose(team=owls, other=crows, by=ada)
    Challenge.objects.update(closes_at=database_now() - timedelta(seconds=1))
    for change in (
        lambda: invitations.accept_link(token=token, user=make.user(), accept_rules=True),
        lambda: merging.confirm(proposal=proposal, by=bob),
        lambda: invitations.invite(team=owls, by=ada, username=make.user().username),
        lambda: invitations.ask(user=make.user(), team=owls, accept_rules=True),
    ):
        with pytest.raises(Refused, match="closed"):
            change()
    assert Invitation.objects.count() == MergeProposal.objects.count() == 1


def test_a_proposal_of_a_captain_whose_account_was_deleted_can_only_be_declined(
    owls: Team, crows: Team, ada: User, bob: User
) -> None:
    proposal = merging.propose(team=owls, other=crows, by=ada)
    ada.delete()
    with pytest.raises(Refused, match="has no members"):
        merging.confirm(proposal=proposal, by=bob)
    merging.close(proposal=proposal, by=bob)
    assert not MergeProposal.objects.exists()


def test_a_name_that_looks_like_another_is_refused_even_after_a_merge(
    owls: Team, crows: Team, ada: User, bob: User
) -> None:
    merging.confirm(proposal=merging.propose(team=owls, other=crows, by=ada), by=bob)
    for name in ("Сrows", "CROWS", "Crow\u200bs"):
        with pytest.raises(Refused):
            profiles.rename(team=owls, by=ada, name=name)
    assert Team.objects.get(pk=owls.pk).name == "Owls"


def test_an_invitation_cannot_be_used_by_another_person(owls: Team, ada: User, bob: User, make: Make) -> None:
    found = invitations.invite(team=owls, by=ada, username="bob")
    with pytest.raises(Refused, match="no longer valid"):
        invitations.accept(invitation=found, by=make.user(), accept_rules=True)
    with pytest.raises(Refused, match="no longer valid"):
        invitations.accept(invitation=found, by=ada, accept_rules=True)
    with pytest.raises(Refused, match="no longer valid"):
        invitations.accept_link(token="", user=make.user(), accept_rules=True)


def test_a_former_captain_can_no_longer_act_as_captain(make: Make, phase: Phase, ada: User, bob: User) -> None:
    team = make.team(phase.challenge, ada, bob, name="Owls")
    members.hand_over(team=team, user=bob, by=ada)
    for change in (
        lambda: invitations.invite_by_link(team=team, by=ada),
        lambda: members.remove(team=team, user=bob, by=ada),
        lambda: profiles.rename(team=team, by=ada, name="Ravens"),
    ):
        with pytest.raises(Refused, match="Only the captain"):
            change()


def test_a_captain_who_hands_over_the_role_at_the_same_time_cannot_accept_a_request(
    owls: Team, ada: User, bob: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    Membership.objects.create(team=owls, challenge=owls.challenge, user=bob, rules_accepted_at=database_now())
    asked = invitations.ask(user=make.user(), team=owls, accept_rules=True)
    lock = invitations.lock

    def hand_over_first(*teams: Team) -> list[Team]:
        """Make another member the captain just before `accept` locks the row of the team."""
        monkeypatch.setattr(invitations, "lock", lock)
        members.hand_over(team=owls, user=bob, by=ada)
        return lock(*teams)

    monkeypatch.setattr(invitations, "lock", hand_over_first)
    with pytest.raises(Refused) as refused:
        invitations.accept(invitation=asked, by=ada)
    assert refused.value.code == "forbidden"
    assert owls.memberships.count() == 2
