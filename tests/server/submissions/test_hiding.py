"""Organizers hide a single submission from the leaderboards. Its scores are kept, and hiding can be undone."""

import pytest
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.leaderboards.queries import board
from server.leaderboards.services.verification import verify
from server.leaderboards.standings import standing
from server.submissions.models import Submission
from server.submissions.services import hiding
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, slug="main"),
    pytest.mark.usefixtures("inline_queue"),
]
PATH = "/organize/challenges/c/phases/main/submissions"


@pytest.fixture
def organizer(phase: Phase, make: Make, client: Client) -> User:
    user = make.user(username="olga")
    phase.challenge.organizers.add(user)
    client.force_login(user)
    return user


@pytest.fixture
def owls(phase: Phase, make: Make) -> Team:
    return make.team(phase.challenge, name="Owls")


@pytest.fixture
def best(phase: Phase, owls: Team, scored: Scored) -> Submission:
    """Create two submissions of one team and return the better one. The other one scores lower than a second team."""
    scored(phase, 0.7, team=owls, private=0.2)
    scored(phase, 0.8)
    return scored(phase, 0.9, team=owls, private=0.6, file_name="best.csv")


def shown(phase: Phase, viewer: User, split: str = "public") -> list[tuple[int | None, str, float]]:
    return [(row.rank, row.team, row.score) for row in board(phase, split=split, viewer=viewer).rows]


def test_the_next_best_submission_of_the_team_counts_until_hiding_is_undone(
    phase: Phase, best: Submission, organizer: User
) -> None:
    before = shown(phase, organizer)
    assert [(rank, score) for rank, _, score in before] == [(1, 0.9), (2, 0.8)]
    hiding.hide(submission=best, by=organizer)
    assert [(rank, score) for rank, _, score in shown(phase, organizer)] == [(1, 0.8), (2, 0.7)]
    assert ("Owls", 0.2) in [(team, score) for _, team, score in shown(phase, organizer, "private")]
    assert not list(verify(phase))
    hiding.unhide(submission=best, by=organizer)
    assert shown(phase, organizer) == before
    entries = Entry.objects.filter(subject=f"submission {best.pk}").order_by("number")
    assert [(one.action, one.actor) for one in entries] == [
        ("submission.hidden", "olga"),
        ("submission.unhidden", "olga"),
    ]


def test_a_team_whose_only_submission_is_hidden_is_on_no_leaderboard(
    phase: Phase, owls: Team, scored: Scored, organizer: User
) -> None:
    hiding.hide(submission=scored(phase, 0.7, team=owls), by=organizer)
    assert shown(phase, organizer) == []


def test_a_hidden_final_submission_does_not_count(phase: Phase, owls: Team, scored: Scored, organizer: User) -> None:
    scored(phase, 0.5, private=0.5, team=owls, final=True)
    chosen = scored(phase, 0.6, private=0.9, team=owls, final=True)
    hiding.hide(submission=chosen, by=organizer)
    assert [score for *_, score in shown(phase, organizer, "private")] == [0.5]


def test_the_team_reads_that_organizers_hid_the_submission_and_still_sees_its_scores(
    phase: Phase, best: Submission, organizer: User, owls: Team
) -> None:
    hiding.hide(submission=best, by=organizer)
    assert "organizers hid this submission" in standing(best, now=best.received_at).why_not
    team = Client()
    team.force_login(owls.memberships.get().user)
    words = Page(team.get(f"/submissions/{best.pk}/")).words
    assert "The organizers hid this submission from the leaderboards." in words
    assert "0.90000" in words


def test_a_submission_is_hidden_and_found_in_the_table(best: Submission, organizer: User, client: Client) -> None:
    page = Page(client.post(f"{PATH}/{best.pk}/hide?team=Owls", follow=True))
    assert "best.csv of Owls is hidden from the leaderboards." in page.words
    found = Page(client.get(f"{PATH}?hidden=yes"))
    assert ("1 submission CSV" in found.words, "Unhide" in found.words) == (True, True)
    header, row = b"".join(client.get(f"{PATH}.csv?hidden=yes")).decode().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["hidden"] == "true"
    client.post(f"{PATH}/{best.pk}/hide", {"act": "unhide"})
    assert not Submission.objects.exclude(hidden_at=None).exists()


def test_only_scored_submissions_are_hidden_and_only_once(
    phase: Phase, best: Submission, make: Make, organizer: User
) -> None:
    with pytest.raises(Refused, match="Only scored submissions"):
        hiding.hide(submission=make.submission(phase), by=organizer)
    with pytest.raises(Refused, match="is not hidden"):
        hiding.unhide(submission=best, by=organizer)
    hiding.hide(submission=best, by=organizer)
    with pytest.raises(Refused, match="already hidden"):
        hiding.hide(submission=best, by=organizer)


def test_a_viewer_cannot_hide_a_submission(phase: Phase, best: Submission, make: Make) -> None:
    viewer = make.user()
    phase.challenge.organizers.add(viewer, through_defaults={"role": "viewer"})
    with pytest.raises(Refused) as refusal:
        hiding.hide(submission=best, by=viewer)
    assert refusal.value.code == "forbidden"
    assert not Submission.objects.exclude(hidden_at=None).exists()
