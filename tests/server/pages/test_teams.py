"""Tests the team page, for members of a team and for people without a team."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import FormerMember, Membership, Phase, Team
from server.submissions.services import quota
from server.teams.models import Invitation, MergeProposal, TeamProfile
from server.teams.services import merging
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

TEAM = "/challenges/c/team"

pytestmark = [
    pytest.mark.phase(challenge={"slug": "c", "title": "Cats"}),
    pytest.mark.member(username="ada"),
    pytest.mark.team(name="Owls"),
]


def as_(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def posted(client: Client, address: str, **form: Any) -> Page:
    """Submit a form of the challenge, follow the redirect, and return the resulting page."""
    return Page(client.post(f"/challenges/c/{address}", form, follow=True))


@pytest.fixture
def bob(make: Make) -> User:
    return make.user(username="bob")


def test_a_person_is_invited_by_username_and_accepts(client: Client, team: Team, bob: User) -> None:
    assert "bob was invited" in posted(client, "team/invite", username="Bob").words
    found = Invitation.objects.get()
    home = Page(as_(bob).get("/"))
    assert f"/challenges/c/invitations/{found.pk}" in home.links()
    assert f"/challenges/c/invitations/{found.pk}" in Page(as_(bob).get(TEAM)).links()
    page = Page(as_(bob).get(f"/challenges/c/invitations/{found.pk}"))
    assert "ada (captain)" in page.words
    refused = posted(as_(bob), f"invitations/{found.pk}", decision="accept")
    assert (refused.status, "rules_not_accepted" in refused.words) == (403, True)
    page = posted(as_(bob), f"invitations/{found.pk}", decision="accept", accept_rules="on")
    assert "You are now in Owls" in page.words
    assert set(team.memberships.values_list("user__username", flat=True)) == {"ada", "bob"}


def test_an_invitation_is_declined_or_withdrawn(client: Client, team: Team, bob: User, make: Make) -> None:
    make.user(username="eve")
    for person, decider in (("bob", as_(bob)), ("eve", client)):
        posted(client, "team/invite", username=person)
        posted(decider, f"invitations/{Invitation.objects.get().pk}", decision="close")
        assert not Invitation.objects.exists()
    assert team.memberships.count() == 1


def test_a_request_to_join_is_accepted_by_the_captain(client: Client, team: Team, bob: User, phase: Phase) -> None:
    assert posted(as_(bob), "team/ask", team="owls").status == 403
    assert "Its captain will accept or decline" in posted(as_(bob), "team/ask", team="owls", accept_rules="on").words
    page = Page(client.get(TEAM))
    assert "bob requests to join" in page.words
    assert "bob is now in Owls" in posted(client, f"invitations/{Invitation.objects.get().pk}", decision="accept").words


def test_a_refused_change_is_shown_on_the_team_page_with_its_status(client: Client, team: Team, make: Make) -> None:
    make.team(team.challenge, name="Crows")
    page = posted(client, "team/rename", name="crows")
    assert page.status == 422
    assert "similar name" in page.words
    assert "Owls is now" not in page.words
    assert "now called Ravens" in posted(client, "team/rename", name="Ravens").words


def test_leaving_a_team_needs_a_confirmation_that_explains_the_consequences(
    make: Make, phase: Phase, team: Team, bob: User, scored: Scored
) -> None:
    Membership.objects.create(
        team=team, challenge=phase.challenge, user=bob, rules_accepted_at=team.created_at, is_captain=False
    )
    scored(phase, 0.5, team=team)
    page = Page(as_(bob).get(f"{TEAM}/leave"))
    assert "you can only return to this team" in page.words
    assert team.memberships.count() == 2
    page = posted(as_(bob), "team/leave")
    assert "You left Owls" in page.words
    assert "You have no team yet" in page.words
    assert FormerMember.objects.get().user == bob


def test_a_captain_with_other_members_gets_no_button_to_leave(
    make: Make, client: Client, team: Team, bob: User
) -> None:
    make_member(team, bob)
    page = Page(client.get(f"{TEAM}/leave"))
    assert "Make another member the captain first" in page.words
    assert not page.all("button", class_="button-bad")


def make_member(team: Team, user: User) -> Membership:
    return Membership.objects.create(team=team, challenge=team.challenge, user=user, rules_accepted_at=team.created_at)


def test_a_captain_removes_a_member_and_hands_over_the_role(make: Make, client: Client, team: Team, bob: User) -> None:
    member, eve = make_member(team, bob), make_member(team, make.user(username="eve"))
    address = f"team/members/{eve.pk}/remove"
    assert "Remove eve?" in Page(client.get(f"/challenges/c/{address}")).words
    assert "eve is no longer in Owls" in posted(client, address).words
    assert "bob is now the captain" in posted(client, f"team/members/{member.pk}/captain").words
    assert [one.user for one in team.memberships.filter(is_captain=True)] == [bob]
    assert client.get(f"/challenges/c/team/members/{member.pk}/captain").status_code == 403


def test_a_merge_is_previewed_by_one_captain_and_confirmed_by_the_other(
    make: Make, phase: Phase, client: Client, team: Team, bob: User, scored: Scored
) -> None:
    crows = make.team(phase.challenge, bob, name="Crows")
    for one in (team, crows):
        scored(phase, 0.5, team=one)
    preview = Page(client.get(f"{TEAM}/merge", {"team": "crows"}))
    assert "1 + 1 = 2 of at most 5" in preview.words
    assert "You have proposed the merge" in posted(client, "team/merge", team="Crows").words
    proposal = MergeProposal.objects.get()
    assert f"{TEAM}/merges/{proposal.pk}" in Page(as_(bob).get(TEAM)).links()
    page = Page(as_(bob).get(f"{TEAM}/merges/{proposal.pk}"))
    assert "A merge cannot be undone" in page.words
    assert posted(client, f"team/merges/{proposal.pk}", decision="confirm").status == 403
    assert "Crows was merged into Owls" in posted(as_(bob), f"team/merges/{proposal.pk}", decision="confirm").words
    assert team.memberships.count() == 2
    assert f"/challenges/c/teams/{team.pk}" in Page(client.get(f"/challenges/c/teams/{crows.pk}")).links()


@pytest.mark.phase(quota_total=2)
def test_without_a_proposal_a_captain_does_not_see_how_much_another_team_has_submitted(
    make: Make, phase: Phase, client: Client, team: Team, bob: User, scored: Scored
) -> None:
    crows = make.team(phase.challenge, bob, name="Crows")
    for _ in range(3):
        quota.charge(scored(phase, 0.5, team=crows), now=datetime.now(UTC))
    preview = Page(client.get(f"{TEAM}/merge", {"team": "Crows"}))
    assert (preview.status, preview.all("table")) == (200, [])
    for page in (preview, posted(client, "team/merge", team="Crows")):
        assert "together, the teams have made too many submissions; at most 2" in page.words


def test_both_captains_of_a_proposed_merge_see_how_much_the_teams_have_submitted(
    make: Make, phase: Phase, client: Client, team: Team, bob: User
) -> None:
    crows = make.team(phase.challenge, bob, name="Crows")
    proposal = merging.propose(team=team, other=crows, by=team.memberships.get().user)
    for viewer in (client, as_(bob)):
        assert "0 + 0 = 0" in Page(viewer.get(f"{TEAM}/merges/{proposal.pk}")).words


def test_no_team_to_merge_with_has_a_null_character_in_its_name(client: Client, team: Team) -> None:
    """A null character causes no server error, although PostgreSQL refuses queries that contain this character."""
    page = Page(client.get(f"{TEAM}/merge", {"team": "Cro\0ws"}))
    assert (page.status, "There is no other team with this name" in page.words) == (422, True)


def test_the_proposing_captain_does_not_see_the_final_choices_of_the_other_team(
    make: Make, phase: Phase, client: Client, team: Team, bob: User, scored: Scored
) -> None:
    crows = make.team(phase.challenge, bob, name="Crows")
    for one in (team, team, crows, crows):
        scored(phase, 0.5, team=one, final=True)
    preview = Page(client.get(f"{TEAM}/merge", {"team": "Crows"}))
    assert "Final submissions" not in preview.words
    assert preview.context["preview"].reasons == ()
    posted(client, "team/merge", team="Crows")
    page = Page(as_(bob).get(f"{TEAM}/merges/{MergeProposal.objects.get().pk}"))
    assert "4 of 2" in page.words
    assert "Deselect some first" in page.words


def test_a_team_without_entries_has_no_public_page(make: Make, client: Client, team: Team, bob: User) -> None:
    address = f"/challenges/c/teams/{team.pk}"
    assert as_(bob).get(address).status_code == Client().get(address).status_code == 404
    assert client.get(address).status_code == 200


def test_the_public_page_names_only_members_who_agreed(
    phase: Phase, client: Client, team: Team, bob: User, scored: Scored
) -> None:
    make_member(team, bob)
    scored(phase, 0.5, team=team, private=0.25)
    address = f"/challenges/c/teams/{team.pk}"
    assert "ada" not in Page(Client().get(address)).words
    posted(client, "team/shown", shown="true")
    links = {"method": "Deep owl", "paper_url": "https://example.org/p", "code_url": "http://example.org/c"}
    posted(client, "team/profile", **links)
    page = Page(Client().get(address))
    assert "ada and 1 other who is not named" in page.words
    assert "bob" not in page.words
    assert "Deep owl" in page.words
    (paper,) = page.all("a", href="https://example.org/p")
    assert paper["rel"] == "nofollow noopener noreferrer ugc"
    assert "0.25" not in page.words
    posted(client, "team/shown", shown="false")
    assert "ada" not in Page(Client().get(address)).words
    assert TeamProfile.objects.get().method == "Deep owl"


def test_a_display_name_is_shown_next_to_the_username_and_never_replaces_it(
    phase: Phase, client: Client, team: Team, scored: Scored
) -> None:
    User.objects.filter(pk=team.memberships.get().user_id).update(display_name="bob", affiliation="Owl Institute")
    team.memberships.update(is_shown=True)
    scored(phase, 0.5, team=team)
    assert "bob ( ada ) Owl Institute" in Page(client.get(f"/challenges/c/teams/{team.pk}")).words
    assert "bob ( ada )" in Page(client.get("/challenges/c/team")).words


def test_before_the_end_a_public_page_shows_no_private_entry(
    phase: Phase, team: Team, scored: Scored, make: Make
) -> None:
    scored(phase, 0.5, team=team, private=0.25)
    address = f"/challenges/c/teams/{team.pk}"
    phase.challenge.organizers.add(organizer := make.user())
    assert [place.split for place in Client().get(address).context["places"]] == ["Public"]
    assert [place.split for place in as_(organizer).get(address).context["places"]] == ["Public", "Private"]


def test_a_merge_that_became_impossible_is_refused_with_its_reason(
    make: Make, phase: Phase, client: Client, team: Team, bob: User, scored: Scored
) -> None:
    crows = make.team(phase.challenge, bob, name="Crows")
    proposal = merging.propose(team=team, other=crows, by=team.memberships.get().user)
    for _ in range(4):
        make_member(crows, make.user())
    page = posted(as_(bob), f"team/merges/{proposal.pk}", decision="confirm")
    assert page.status == 409
    assert "Together, the teams have 6 members" in page.words


def test_the_link_of_an_invitation_is_shown_once(client: Client, team: Team) -> None:
    page = posted(client, "team/link")
    assert "invitations/" in page.context["link"]
    assert page.context["link"] not in Page(client.get(TEAM)).words
    assert "Anyone with the link" in Page(client.get(TEAM)).words
