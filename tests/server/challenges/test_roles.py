"""Viewers can read, editors can also make changes, and owners can also change the organizers and reveal scores."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges import organizers
from server.challenges.models import Challenge, Organizer, Phase
from server.challenges.roles import ROLES_WITH, Right, Role, refuse_without
from server.errors import Refused
from server.notices.services import deriving
from tests.conftest import Make
from tests.server.notices.conftest import kinds_of

Given = Callable[[str], User]

pytestmark = pytest.mark.phase(challenge={"slug": "detection"})


@pytest.fixture
def given(make: Make, phase: Phase) -> Given:
    """Return a function that creates a user with a role in the challenge: `given("viewer")`."""

    def give(role: str) -> User:
        user = make.user()
        phase.challenge.organizers.add(user, through_defaults={"role": role})
        return user

    return give


def roles(challenge: Challenge) -> dict[str, str]:
    return dict(challenge.organizer_roles.values_list("user__username", "role"))


def code(call: Callable[..., Any], **arguments: Any) -> str:
    with pytest.raises(Refused) as refusal:
        call(**arguments)
    return refusal.value.code


@pytest.mark.parametrize("right", Right)
@pytest.mark.parametrize("role", Role)
def test_a_person_has_only_the_rights_of_the_role(given: Given, phase: Phase, role: Role, right: Right) -> None:
    user = given(role)
    assert phase.challenge.is_organized_by(user, right) == (role in ROLES_WITH[right])


def test_another_organizers_role_gives_nobody_rights(given: Given, phase: Phase) -> None:
    viewer, _ = given("viewer"), given("owner")
    assert not phase.challenge.is_organized_by(viewer, Right.EDIT)


def test_staff_and_the_operator_have_every_right(make: Make, phase: Phase) -> None:
    for by in (make.user(is_staff=True), None):
        refuse_without(Right.OWN, by=by, challenge=phase.challenge)


def test_a_role_counts_only_with_the_required_two_factor_authentication(given: Given, phase: Phase) -> None:
    owner = given("owner")
    Challenge.objects.update(organizers_need_two_factor=True)
    assert not phase.challenge.is_organized_by(owner, Right.OWN)
    User.objects.filter(pk=owner.pk).update(has_two_factor=True)
    assert phase.challenge.is_organized_by(owner, Right.OWN)


def test_an_owner_adds_changes_and_removes_organizers(given: Given, make: Make, phase: Phase) -> None:
    owner, ada = given("owner"), make.user(username="ada")
    added = organizers.add(challenge=phase.challenge, by=owner, username="Ada", role="viewer")
    organizers.change_role(organizer=added, by=owner, role="editor")
    assert roles(phase.challenge) == {owner.username: "owner", "ada": "editor"}
    organizers.remove(organizer=added, by=owner)
    assert roles(phase.challenge) == {owner.username: "owner"}
    found = Entry.objects.filter(action__startswith="organizer.").order_by("number")
    assert [(one.action, one.detail) for one in found] == [
        ("organizer.added", {"user": ada.pk, "role": "viewer"}),
        ("organizer.changed", {"user": ada.pk, "role": "editor"}),
        ("organizer.removed", {"user": ada.pk, "role": "editor"}),
    ]


@pytest.mark.parametrize("role", ["editor", "viewer"])
def test_only_owners_change_organizers(given: Given, make: Make, phase: Phase, role: str) -> None:
    by, other = given(role), given("owner")
    organizer = Organizer.objects.get(user=other)
    assert (
        code(organizers.add, challenge=phase.challenge, by=by, username=make.user().username, role=role) == "forbidden"
    )
    assert code(organizers.change_role, organizer=organizer, by=by, role="viewer") == "forbidden"
    assert code(organizers.remove, organizer=organizer, by=by) == "forbidden"
    assert set(roles(phase.challenge).values()) == {role, "owner"}


def test_the_last_owner_stays(given: Given, phase: Phase) -> None:
    owner = given("owner")
    given("editor")
    organizer = Organizer.objects.get(user=owner)
    assert code(organizers.remove, organizer=organizer, by=owner) == "change_refused"
    assert code(organizers.change_role, organizer=organizer, by=owner, role="editor") == "change_refused"
    given("owner")
    organizers.remove(organizer=organizer, by=owner)
    assert owner.username not in roles(phase.challenge)


@pytest.mark.parametrize(
    ("username", "role"),
    [("nobody", "viewer"), ("ada", "boss"), ("ada", ""), ("member", "boss"), ("known", "viewer")],
)
def test_invalid_organizers_are_refused(given: Given, make: Make, phase: Phase, username: str, role: str) -> None:
    owner = given("owner")
    make.user(username="ada")
    make.team(phase.challenge, make.user(username="member"))
    phase.challenge.organizers.add(make.user(username="known"))
    before = roles(phase.challenge)
    assert code(organizers.add, challenge=phase.challenge, by=owner, username=username, role=role) == "invalid"
    assert roles(phase.challenge) == before


def test_a_person_gets_a_notice_about_a_role_that_another_person_gives(given: Given, make: Make, phase: Phase) -> None:
    deriving.derive()
    owner, ada = given("owner"), make.user(username="ada")
    added = organizers.add(challenge=phase.challenge, by=owner, username="ada", role="viewer")
    deriving.derive()
    organizers.change_role(organizer=added, by=owner, role="owner")
    deriving.derive()
    assert (kinds_of(ada), kinds_of(owner)) == (["organizes", "organizes"], [])


def test_the_forms_are_shown_to_owners_only(given: Given, phase: Phase) -> None:
    forms = {}
    for role in Role:
        client = Client()
        client.force_login(given(role))
        forms[role.value] = b"organizers/add" in client.get("/challenges/detection/organizers").content
    assert forms == {"owner": True, "editor": False, "viewer": False}


def test_an_owner_who_removes_themself_sees_the_public_page(given: Given, phase: Phase) -> None:
    owner, client = given("owner"), Client()
    given("owner")
    client.force_login(owner)
    organizer = Organizer.objects.get(user=owner)
    answer = client.post(f"/challenges/detection/organizers/{organizer.pk}/remove", follow=True)
    assert answer.redirect_chain == [("/challenges/detection/", 302)]
    assert answer.status_code == 200


def test_viewers_open_the_console_but_do_not_import(given: Given) -> None:
    client = Client()
    client.force_login(given("viewer"))
    page = client.get("/organize/")
    assert (page.status_code, b"/organize/import" in page.content) == (200, False)
    assert client.get("/organize/import").status_code == 403
