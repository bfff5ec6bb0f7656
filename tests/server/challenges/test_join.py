from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError

from server.accounts.adapter import AccountAdapter
from server.audit.models import Entry
from server.challenges.models import Membership, Team
from server.challenges.reading import membership_of
from server.challenges.services import join, join_team
from server.errors import Refused
from tests.conftest import Make

NOW = datetime.now(UTC)
PAST, FUTURE = NOW - timedelta(hours=1), NOW + timedelta(hours=1)


def refusal(**asked: Any) -> str:
    with pytest.raises(Refused) as caught:
        join(**{"accept_rules": True, **asked})
    return caught.value.code


def test_a_person_who_joins_alone_is_captain_of_a_new_team(make: Make) -> None:
    user, challenge = make.user(), make.challenge()
    member = join(user=user, challenge=challenge, accept_rules=True, team_name="Aurora")
    assert (member.team.name, member.is_captain, member.team.memberships.count()) == ("Aurora", True, 1)


def test_nobody_can_join_without_accepting_the_rules(make: Make) -> None:
    assert refusal(user=make.user(), challenge=make.challenge(), accept_rules=False) == "rules_not_accepted"
    assert not Team.objects.exists()


def test_joining_is_recorded_in_the_log(make: Make) -> None:
    user, challenge = make.user(), make.challenge(slug="animals")
    join(user=user, challenge=challenge, accept_rules=True)
    entry = Entry.objects.get(action="challenge.joined")
    assert (entry.subject, entry.actor) == ("challenge animals", user.username)


def test_joining_again_does_not_change_the_team(make: Make) -> None:
    user, challenge = make.user(), make.challenge()
    first = join(user=user, challenge=challenge, accept_rules=True, team_name="Aurora")
    challenge.join_until = PAST
    challenge.save()
    again = join(user=user, challenge=challenge, accept_rules=False, team_name="Basalt")
    assert again == first
    assert (Team.objects.count(), Membership.objects.count(), Entry.objects.count()) == (1, 1, 1)


def test_one_person_may_join_two_challenges_with_the_same_team_name(make: Make) -> None:
    user = make.user()
    for challenge in (make.challenge(), make.challenge()):
        join(user=user, challenge=challenge, accept_rules=True, team_name="Aurora")
    assert Team.objects.filter(name="Aurora").count() == 2


@pytest.mark.parametrize(
    ("dates", "code"),
    [
        ({"join_until": PAST}, "registration_closed"),
        ({"closes_at": PAST}, "registration_closed"),
        ({"join_until": FUTURE, "closes_at": PAST}, "registration_closed"),
        ({"join_until": PAST, "closes_at": FUTURE}, "registration_closed"),
        ({"join_until": FUTURE, "closes_at": FUTURE}, None),
        # A challenge can be joined before it opens.
        ({"opens_at": FUTURE}, None),
        ({}, None),
    ],
)
def test_joining_ends_at_its_deadline_or_with_the_challenge(
    make: Make, dates: dict[str, Any], code: str | None
) -> None:
    user, challenge = make.user(), make.challenge(**dates)
    if code is None:
        assert join(user=user, challenge=challenge, accept_rules=True).user == user
    else:
        assert refusal(user=user, challenge=challenge) == code


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  Aurora  ", "Aurora"),
        ("North   Star", "North Star"),
        ("North\u00a0Star", "North Star"),
        ("Ａｕｒｏｒａ", "Aurora"),
        ("Cafe\u0301", "Café"),
        ("فريق", "فريق"),
        ("North\nStar", "North Star"),
        ("x" * 80, "x" * 80),
        ("<b>&amp;</b>", "<b>&amp;</b>"),
    ],
)
def test_names_are_stored_in_normalized_form(make: Make, given: str, kept: str) -> None:
    member = join(user=make.user(), challenge=make.challenge(), accept_rules=True, team_name=given)
    assert member.team.name == kept


@pytest.mark.parametrize(
    "name",
    [
        "x" * 81,
        "\ufdfa" * 5,  # Normalization (NFKC) expands each character to 18, so the name is too long.
        "a\x00b",
        "a\u202eb",
        "a\u2066b",
        "a\u200bb",
        "a\u00adb",
        "a\ud800b",
        "a\ue000b",
        "\u200d",
        "\u0301",
    ],
)
def test_a_name_that_cannot_be_shown_is_refused(make: Make, name: str) -> None:
    assert refusal(user=make.user(), challenge=make.challenge(), team_name=name) == "invalid"


@pytest.mark.parametrize(("first", "second"), [("Aurora", "aurora"), ("Ärger", "ÄRGER"), ("Straße", "STRASSE")])
def test_names_are_unique_regardless_of_letter_case(make: Make, first: str, second: str) -> None:
    challenge = make.challenge()
    make.team(challenge, name=first)
    assert refusal(user=make.user(), challenge=challenge, team_name=second) == "invalid"


def test_without_a_name_a_team_gets_the_username_of_its_captain(make: Make) -> None:
    member = join(user=make.user(username="nord"), challenge=make.challenge(), accept_rules=True, team_name=" ")
    assert member.team.name == "nord"


def test_a_taken_default_name_gets_a_number(make: Make) -> None:
    challenge = make.challenge()
    make.team(challenge, name="NORD")
    make.team(challenge, name="nord 2")
    assert join(user=make.user(username="nord"), challenge=challenge, accept_rules=True).team.name == "nord 3"


def test_a_long_default_name_is_cut_before_its_number(make: Make) -> None:
    challenge = make.challenge()
    make.team(challenge, name="n" * 80)
    member = join(user=make.user(username="n" * 100), challenge=challenge, accept_rules=True)
    assert member.team.name == "n" * 78 + " 2"


def test_a_private_challenge_does_not_exist_for_strangers(make: Make) -> None:
    assert refusal(user=make.user(), challenge=make.challenge(visibility="private")) == "not_found"


@pytest.mark.parametrize("staff", [True, False])
def test_a_private_challenge_is_known_to_its_organizers_and_staff_who_cannot_join(make: Make, staff: bool) -> None:
    user, challenge = make.user(is_staff=staff), make.challenge(visibility="private")
    if not staff:
        challenge.organizers.add(user)
    # Users who are neither organizers nor staff get `not_found` instead, which does not reveal that the challenge
    # exists.
    assert refusal(user=user, challenge=challenge) == "forbidden"


def test_anybody_who_knows_its_address_can_join_an_unlisted_challenge(make: Make) -> None:
    user = make.user()
    assert join(user=user, challenge=make.challenge(visibility="unlisted"), accept_rules=True).user == user


def test_anonymous_users_have_no_membership(make: Make) -> None:
    assert membership_of(AnonymousUser(), make.challenge()) is None


def test_membership_applies_to_one_challenge_only(make: Make) -> None:
    user, challenge = make.user(), make.challenge()
    member = join(user=user, challenge=challenge, accept_rules=True)
    assert membership_of(user, challenge) == member
    assert membership_of(user, make.challenge()) is None


def test_a_person_may_join_an_existing_team(make: Make) -> None:
    team = make.team(make.challenge())
    member = join_team(user=make.user(), team=team, accept_rules=True)
    assert (member.team, member.is_captain) == (team, False)


def test_a_member_of_a_team_cannot_join_another_team(make: Make) -> None:
    challenge, user = make.challenge(), make.user()
    own, other = make.team(challenge, user), make.team(challenge)
    assert join_team(user=user, team=other, accept_rules=True).team == own


@pytest.mark.parametrize(
    ("challenge", "accept_rules", "code"),
    [
        ({"team_max_size": 1}, True, "invalid"),
        ({}, False, "rules_not_accepted"),
        ({"join_until": PAST}, True, "registration_closed"),
        ({"visibility": "private"}, True, "not_found"),
    ],
)
def test_a_team_cannot_be_joined_against_the_rules(
    make: Make, challenge: dict[str, Any], accept_rules: bool, code: str
) -> None:
    team = make.team(make.challenge(**challenge))
    with pytest.raises(Refused) as caught:
        join_team(user=make.user(), team=team, accept_rules=accept_rules)
    assert caught.value.code == code


LOOK_ALIKES = [
    ("Owls", "\u041ewls"),  # The second name begins with a Cyrillic letter.
    ("Owls", "0WLS"),  # The second name has a zero instead of the letter O, and capital letters.
    ("Alice", "AIice"),  # The second name has a capital I instead of the letter l.
    ("Modern", "Modem"),  # The letters r and n together look like an m.
    ("Team 1", "Team l"),
    # Two v's look like a w, but Unicode does not list them as confusable.
    ("Owls", "Ovvls"),
    ("att", "att\ufe0f"),  # The second name ends with an invisible variation selector.
    ("scope", "\u0455\u0441\u043e\u0440\u0435"),  # All letters of the second name are Cyrillic.
]


@pytest.mark.parametrize(("name", "alike"), LOOK_ALIKES)
def test_a_team_name_that_looks_like_another_is_refused(make: Make, name: str, alike: str) -> None:
    challenge = make.challenge()
    make.team(challenge, name=name)
    assert refusal(user=make.user(), challenge=challenge, team_name=alike) == "invalid"


@pytest.mark.parametrize(("name", "other"), [("Owls", "Crows"), ("Ali", "Ail"), ("Team 1", "Team 7"), ("été", "ete")])
def test_a_team_name_that_only_resembles_another_is_accepted(make: Make, name: str, other: str) -> None:
    challenge = make.challenge()
    make.team(challenge, name=name)
    assert join(user=make.user(), challenge=challenge, accept_rules=True, team_name=other).team.name == other


def test_a_name_made_from_the_username_does_not_look_like_another_name(make: Make) -> None:
    challenge = make.challenge()
    make.team(challenge, name="\u0430da")
    assert join(user=make.user(username="ada"), challenge=challenge, accept_rules=True).team.name == "ada 2"


@pytest.mark.parametrize(("name", "alike"), [("\u0430lice", "alice"), ("Alice", "AIice"), ("modern", "modem")])
def test_an_account_that_looks_like_another_is_refused(make: Make, name: str, alike: str) -> None:
    make.user(username=name)
    with pytest.raises(ValidationError, match="looks like an existing name"):
        AccountAdapter().clean_username(alike)
