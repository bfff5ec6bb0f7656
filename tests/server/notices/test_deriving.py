"""Tests which events cause notices, and for whom. No user gets more than one notice about an event."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db.models import Max
from django.utils import timezone

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.notices.models import Event, Notice, Progress
from server.notices.services import announcing, deriving
from server.organize.models import Rescoring
from server.submissions.services import sweeping
from server.teams.services import invitations, merging
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored
from tests.server.notices.conftest import Ended, kinds_of


@pytest.mark.parametrize("status", ["scored", "rejected", "failed"])
def test_each_member_is_notified_once_when_a_submission_ends(
    status: str, phase: Phase, make: Make, ended: Ended
) -> None:
    ada, bob, rival = make.user(), make.user(), make.user()
    team = make.team(phase.challenge, ada, bob)
    make.team(phase.challenge, rival)
    one = ended(phase, team, status)
    for _ in range(3):
        deriving.derive()
    assert [kinds_of(person) for person in (ada, bob, rival)] == [[status], [status], []]
    assert Event.objects.get().path == f"/submissions/{one.pk}/"


def test_nobody_is_notified_of_a_quick_score_or_a_cancelled_submission(phase: Phase, team: Team, ended: Ended) -> None:
    ended(phase, team, "scored", minutes=1.5)
    ended(phase, team, "cancelled")
    deriving.derive()
    assert not Notice.objects.exists()


def test_nobody_is_notified_of_events_before_the_first_sweep(phase: Phase, team: Team, make: Make) -> None:
    hour = timezone.now() - timedelta(hours=1)
    make.submission(phase, team, status="rejected", fault="participant", received_at=hour, finished_at=hour)
    deriving.derive()
    deriving.derive()
    assert not Notice.objects.exists()


def test_people_are_notified_of_events_while_no_sweeper_ran(
    phase: Phase, team: Team, member: User, ended: Ended
) -> None:
    Progress.objects.update(until=timezone.now() - timedelta(hours=5))
    ended(phase, team, "rejected")
    deriving.derive()
    assert kinds_of(member) == ["rejected"]


def test_people_are_notified_again_when_a_submission_fails_again(
    phase: Phase, team: Team, member: User, ended: Ended
) -> None:
    one = ended(phase, team, "failed")
    deriving.derive()
    one.finished_at = timezone.now()
    one.save()
    deriving.derive()
    assert kinds_of(member) == ["failed", "failed"]


def test_people_who_left_and_baselines_get_no_notices(phase: Phase, make: Make, ended: Ended) -> None:
    ada, bob = make.user(), make.user()
    team = make.team(phase.challenge, ada, bob)
    one = ended(phase, team, "rejected", user=bob)
    team.memberships.filter(user=bob).delete()
    ended(phase, make.team(phase.challenge, is_baseline=True), "rejected")
    deriving.derive()
    assert (kinds_of(ada), kinds_of(bob), one.user) == (["rejected"], [], bob)


def test_the_sweeper_creates_notices(
    phase: Phase, team: Team, member: User, ended: Ended, inline_queue: InlineQueue
) -> None:
    ended(phase, team, "rejected")
    sweeping.sweep(files=False)
    assert kinds_of(member) == ["rejected"]


def test_people_are_notified_of_a_deadline_once_and_again_if_it_changes(
    begun: datetime, phase: Phase, team: Team, member: User, make: Make
) -> None:
    out = make.user()
    make.team(phase.challenge, out, disqualified_at=begun, disqualification_reason="x")
    for hours in (25, 23, 22, 22):
        Phase.objects.filter(pk=phase.pk).update(closes_at=begun + timedelta(hours=hours))
        deriving.derive()
    assert kinds_of(member) == ["deadline", "deadline"]
    assert kinds_of(out) == []


def test_a_phase_that_has_not_opened_has_no_deadline(begun: datetime, phase: Phase, team: Team) -> None:
    times = {"opens_at": begun + timedelta(hours=1), "closes_at": begun + timedelta(hours=2)}
    Phase.objects.filter(pk=phase.pk).update(**times)
    deriving.derive()
    assert not Notice.objects.exists()


def test_everybody_who_takes_part_is_notified_of_an_announcement(
    begun: datetime, phase: Phase, team: Team, member: User, make: Make
) -> None:
    boss, stranger = make.user(), make.user()
    phase.challenge.organizers.add(boss)
    announcing.announce(challenge=phase.challenge, by=boss, title="New rules", text="Read *them*.")
    deriving.derive()
    assert (kinds_of(member), kinds_of(stranger)) == (["announced"], [])


def test_an_invited_person_is_notified(begun: datetime, phase: Phase, team: Team, member: User, make: Make) -> None:
    friend = make.user()
    invitations.invite(team=team, by=member, username=friend.username)
    deriving.derive()
    assert (kinds_of(friend), kinds_of(member)) == (["invited"], [])
    assert team.name not in Event.objects.get().text


def test_the_captain_is_notified_of_a_request_to_join(begun: datetime, phase: Phase, make: Make) -> None:
    captain, mate, stranger = make.user(), make.user(), make.user()
    invitations.ask(user=stranger, team=make.team(phase.challenge, captain, mate), accept_rules=True)
    deriving.derive()
    assert [kinds_of(person) for person in (captain, mate, stranger)] == [["asked"], [], []]
    assert stranger.username not in Event.objects.get().text


def test_the_captain_of_the_other_team_is_notified_of_a_proposed_merge(
    begun: datetime, phase: Phase, team: Team, member: User, make: Make
) -> None:
    captain = make.user()
    merging.propose(team=make.team(phase.challenge, captain), other=team, by=captain)
    deriving.derive()
    assert (kinds_of(member), kinds_of(captain)) == (["asked"], [])


def test_teams_that_have_submitted_are_notified_of_a_rescoring(
    begun: datetime, phase: Phase, make: Make, scored: Scored
) -> None:
    ada, idle = make.user(), make.user()
    scored(phase, 0.5, team=make.team(phase.challenge, ada))
    make.team(phase.challenge, idle)
    one = Rescoring.objects.create(phase=phase, truth=phase.truths.get(), signature="s", started_at=begun)
    deriving.derive()
    assert not Notice.objects.exists()
    Rescoring.objects.filter(pk=one.pk).update(applied_at=timezone.now())
    deriving.derive()
    assert (kinds_of(ada), kinds_of(idle)) == (["rescored"], [])


@pytest.fixture
def first_three(phase: Phase, make: Make, scored: Scored, begun: datetime) -> list[User]:
    """Create three teams with scores 0.5, 0.4 and 0.3, and return the members of the teams.

    The periodic creation of notices has already run once, so its next run covers only later events.
    """
    people = [make.user() for _ in range(3)]
    for person, score in zip(people, (0.5, 0.4, 0.3), strict=True):
        scored(phase, score, team=make.team(phase.challenge, person))
    deriving.derive()
    return people


def test_a_team_that_is_overtaken_is_notified_once(
    phase: Phase, make: Make, scored: Scored, first_three: list[User]
) -> None:
    fast = make.user()
    scored(phase, 0.6, team=make.team(phase.challenge, fast))
    deriving.derive()
    deriving.derive()
    assert [kinds_of(person) for person in (*first_three, fast)] == [[], [], ["overtaken"], []]


def test_a_team_with_an_equal_score_is_not_overtaken(
    phase: Phase, make: Make, scored: Scored, first_three: list[User]
) -> None:
    scored(phase, 0.3, team=make.team(phase.challenge))
    deriving.derive()
    assert not Notice.objects.exists()


def test_a_disqualified_team_is_not_notified_of_being_overtaken(phase: Phase, first_three: list[User]) -> None:
    team = Team.objects.get(memberships__user=first_three[0])
    team.disqualified_at, team.disqualification_reason = timezone.now(), "x"
    team.save()
    deriving.derive()
    assert not Notice.objects.exists()


@pytest.mark.phase(feedback="ladder")
def test_under_ladder_feedback_nobody_is_notified_of_being_overtaken(
    phase: Phase, make: Make, scored: Scored, first_three: list[User]
) -> None:
    scored(phase, 0.6, team=make.team(phase.challenge))
    deriving.derive()
    assert not Notice.objects.exists()


def test_nobody_is_notified_of_being_overtaken_by_a_private_score(
    phase: Phase, make: Make, scored: Scored, first_three: list[User]
) -> None:
    scored(phase, 0.1, private=0.9, team=make.team(phase.challenge), final=True)
    deriving.derive()
    assert not Notice.objects.exists()


def test_nobody_is_notified_of_being_overtaken_after_the_end(
    phase: Phase, make: Make, scored: Scored, first_three: list[User]
) -> None:
    scored(phase, 0.6, team=make.team(phase.challenge))
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - timedelta(seconds=1))
    deriving.derive()
    assert not Notice.objects.exists()


def test_the_text_of_an_event_contains_no_score_and_no_name(
    phase: Phase, make: Make, scored: Scored, first_three: list[User], ended: Ended
) -> None:
    ended(phase, Team.objects.first(), "scored")
    scored(phase, 0.6, team=make.team(phase.challenge, name="Secret Owls"))
    deriving.derive()
    texts = " ".join(Event.objects.values_list("text", flat=True))
    assert "0." not in texts
    assert not any(name in texts for name in Team.objects.values_list("name", flat=True))


def test_unread_notices_are_counted_and_can_be_marked_as_read(
    phase: Phase, team: Team, member: User, ended: Ended, client: Any
) -> None:
    ended(phase, team, "rejected")
    ended(phase, team, "failed")
    deriving.derive()
    member.refresh_from_db()
    assert member.unread_notices == 2
    client.post("/accounts/notices/read")
    member.refresh_from_db()
    assert member.unread_notices == 0
    assert not Notice.objects.unread().exists()


def test_old_notices_are_removed(phase: Phase, team: Team, ended: Ended) -> None:
    ended(phase, team, "rejected")
    deriving.derive()
    Event.objects.update(happened_at=timezone.now() - timedelta(days=181))
    ended(phase, team, "failed")
    deriving.derive()
    assert [*Event.objects.values_list("kind", flat=True)] == ["failed"]


def test_a_sweep_without_events_writes_nothing(begun: datetime, phase: Phase) -> None:
    deriving.derive()
    assert Progress.objects.aggregate(until=Max("until"))["until"] == begun


def test_a_sweep_without_events_needs_few_queries(
    begun: datetime, phase: Phase, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    # Events are read from several tables: one query for each, and two for quota grants. A few more queries read the
    # current time, the time of the last sweep, and changed leaderboards.
    with django_assert_max_num_queries(15):
        deriving.derive()
