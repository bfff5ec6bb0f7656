"""Organizers can extend a phase for all teams or for one team.

Private scores are hidden until the last extension has ended.
"""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Challenge, Phase, Team
from server.challenges.roles import Role
from server.challenges.term_changes import REVEAL_DELAY
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.queries import board
from server.notices.models import Notice
from server.notices.services import deriving
from server.organize.services import extending, revealing
from server.submissions.feedback import score_access
from server.submissions.models import Submission
from server.submissions.services import choices, intake, quota
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored
from tests.server.documented import Api
from tests.server.page import Page

HOUR = timedelta(hours=1)
REASON = "A worker was down."


@pytest.fixture
def phase(make: Make) -> Phase:
    """Return a phase that closed a minute ago and whose private scores nobody has read."""
    now = database_now()
    return make.phase(make.challenge(slug="c", closes_at=now - timedelta(minutes=1)), slug="main")


@pytest.fixture
def organizer(phase: Phase, make: Make) -> User:
    user = make.user()
    phase.challenge.organizers.add(user)
    return user


def extended(phase: Phase, team: Team, by: User, by_hours: float = 1, **values: Any) -> Phase:
    until = database_now() + by_hours * HOUR
    extending.extend_team(phase=phase, team=team, by=by, until=until, reason=REASON, **values)
    return Phase.objects.select_related("challenge").get(pk=phase.pk)


def submit(team: Team, phase: Phase) -> Submission:
    user = team.memberships.get().user
    return intake.submit(user=user, team=team, phase=phase, file=ContentFile(b"ImageId,PredictionString\n", "a.csv"))


def end_extension(phase: Phase) -> Phase:
    """Make all extensions of the phase end, as if time had passed, and return the phase."""
    past = database_now() - timedelta(seconds=1)
    phase.extensions.update(until=past)
    Phase.objects.filter(pk=phase.pk).update(extended_until=past)
    return Phase.objects.select_related("challenge").get(pk=phase.pk)


def test_only_the_extended_team_can_submit_after_the_end(
    phase: Phase, make: Make, organizer: User, inline_queue: InlineQueue
) -> None:
    team, other = make.team(phase.challenge), make.team(phase.challenge)
    phase = extended(phase, team, organizer)
    assert submit(team, phase).status == "queued"
    with pytest.raises(Refused) as refused:
        submit(other, phase)
    assert refused.value.code == "phase_closed"
    phase = end_extension(phase)
    with pytest.raises(Refused) as refused:
        submit(team, phase)
    assert refused.value.code == "phase_closed"


def test_private_scores_are_hidden_from_every_participant_until_the_last_extension_has_ended(
    phase: Phase, make: Make, organizer: User, scored: Scored
) -> None:
    team, other = make.team(phase.challenge), make.team(phase.challenge)
    scored(phase, 0.5, private=0.4, team=other)
    phase, now = extended(phase, team, organizer), database_now()
    for one in (team, other):
        assert score_access(phase, viewer=one.memberships.get().user, now=now).splits == {"public"}
    assert phase.revealed_at is None
    phase = end_extension(phase)
    assert "private" in score_access(phase, viewer=other.memberships.get().user, now=database_now()).splits
    assert [row.team_id for row in board(phase, split="private", viewer=organizer).rows] == [other.pk]


def test_the_extended_team_can_choose_final_submissions_and_others_cannot(
    phase: Phase, make: Make, organizer: User, scored: Scored
) -> None:
    team, other = make.team(phase.challenge), make.team(phase.challenge)
    extended(phase, team, organizer)
    own, others = scored(phase, 0.5, team=team), scored(phase, 0.5, team=other)
    for one in (own, others):
        one.refresh_from_db()
    assert choices.set_final(submission=own, by=team.memberships.get().user, final=True).final
    with pytest.raises(Refused, match="closed"):
        choices.set_final(submission=others, by=other.memberships.get().user, final=True)


def test_the_quota_of_the_extended_team_has_the_later_end(
    phase: Phase, make: Make, organizer: User, api: Api, member: User
) -> None:
    team, other = make.team(phase.challenge, member), make.team(phase.challenge)
    phase = extended(phase, team, organizer, by_hours=2)
    assert quota.state(team=other, phase=phase, now=database_now()).reason == "The phase is closed."
    found = api.get("challenges/c/phases/main/quota", user=member).json()
    assert found["reason"] is None
    assert datetime.fromisoformat(found["closes_at"]) == phase.extended_until


@pytest.mark.parametrize("hours", [-1, 30 * 24])
def test_a_phase_whose_private_scores_could_be_read_cannot_be_extended(
    hours: float, phase: Phase, make: Make, organizer: User
) -> None:
    Phase.objects.filter(pk=phase.pk).update(revealed_at=database_now())
    for act in (
        lambda until: extending.extend_phase(phase=phase, by=organizer, until=until, reason=REASON),
        lambda until: extending.extend_team(
            phase=phase, team=make.team(phase.challenge), by=organizer, until=until, reason=REASON
        ),
    ):
        with pytest.raises(Refused):
            act(database_now() + hours * HOUR)


def test_a_shorter_extension_that_ends_the_phase_soon_is_confirmed_by_an_owner(
    phase: Phase, make: Make, organizer: User
) -> None:
    team, editor = make.team(phase.challenge), make.user()
    phase.challenge.organizers.add(editor, through_defaults={"role": Role.EDITOR})
    extended(phase, team, editor, by_hours=72)
    with pytest.raises(Refused, match="To confirm, type main"):
        extended(phase, team, organizer, by_hours=2)
    with pytest.raises(Refused, match="Only owners"):
        extended(phase, team, editor, by_hours=2, confirm="main")
    found = extended(phase, team, organizer, by_hours=2, confirm="main")
    assert found.extended_until is not None
    assert found.extended_until < database_now() + 3 * HOUR


def test_a_team_keeps_its_longer_extension_unless_the_shorter_one_is_confirmed(
    phase: Phase, make: Make, organizer: User
) -> None:
    team, other = make.team(phase.challenge), make.team(phase.challenge)
    extended(phase, other, organizer, by_hours=200)
    extended(phase, team, organizer, by_hours=100)
    with pytest.raises(Refused, match=r"the team already has a longer extension, until .* To confirm, type main"):
        extended(phase, team, organizer, by_hours=50)
    assert phase.extensions.get(team=team).until > database_now() + 99 * HOUR
    extended(phase, team, organizer, by_hours=50, confirm="main")
    assert phase.extensions.get(team=team).until < database_now() + 51 * HOUR


def test_an_extension_for_all_moves_the_end_of_the_challenge_and_of_no_other_phase(
    phase: Phase, make: Make, organizer: User
) -> None:
    other, closes_at = make.phase(phase.challenge), phase.challenge.closes_at
    until = database_now() + 5 * HOUR
    extending.extend_phase(phase=phase, by=organizer, until=until, reason=REASON)
    found = {one.pk: one for one in Phase.objects.select_related("challenge")}
    assert found[phase.pk].closing == Challenge.objects.get().closes_at == until
    assert found[other.pk].closing == closes_at
    rows = (("challenge", phase.challenge_id), ("phase", phase.pk), ("phase", other.pk))
    logged = Entry.objects.filter(action__endswith=".changed")
    assert {(one.action, one.subject, one.actor, one.detail["reason"]) for one in logged} == {
        (f"{kind}.changed", f"{kind} {pk}", organizer.username, REASON) for kind, pk in rows
    }


@pytest.mark.parametrize("for_all", [True, False])
def test_an_extension_cancels_a_reveal_that_nobody_has_seen(
    phase: Phase, make: Make, organizer: User, for_all: bool
) -> None:
    Phase.objects.filter(pk=phase.pk).update(reveal="manual")
    revealing.reveal(phase=phase, by=organizer, name="main")
    if for_all:
        extending.extend_phase(phase=phase, by=organizer, until=database_now() + HOUR, reason=REASON)
    else:
        extended(phase, make.team(phase.challenge), organizer)
    found = Phase.objects.get()
    assert (found.reveals_at, found.shown_from) == (None, None)


def test_an_extension_that_is_shortened_to_a_minute_reveals_after_ten(
    phase: Phase, make: Make, organizer: User
) -> None:
    team = make.team(phase.challenge)
    extended(phase, team, organizer, by_hours=48)
    before = database_now()
    found = extended(phase, team, organizer, by_hours=1 / 60, confirm="main")
    assert found.shown_from is not None
    assert found.shown_from >= before + REVEAL_DELAY
    assert revealing.take_back(phase=found, by=organizer).shown_from is None


def test_members_get_a_notice_of_an_extension_for_all_and_only_one_team_of_its_own(
    phase: Phase, make: Make, organizer: User
) -> None:
    team, other = make.team(phase.challenge), make.team(phase.challenge)
    deriving.derive()
    extending.extend_phase(phase=phase, by=organizer, until=database_now() + 5 * HOUR, reason=REASON)
    deriving.derive()
    extended(phase, team, organizer, by_hours=9)
    deriving.derive()
    counts = [
        Notice.objects.filter(user__memberships__team=one, event__kind="changed").count() for one in (team, other)
    ]
    assert counts == [2, 1]
    assert Entry.objects.get(action="team.extended").actor == organizer.username


def test_an_organizer_extends_the_phase_and_a_team_on_the_pages(
    phase: Phase, make: Make, organizer: User, client: Client
) -> None:
    client.force_login(organizer)
    address, team = "/organize/challenges/c/phases/main", make.team(phase.challenge, name="Owls")
    until = f"{database_now() + 2 * HOUR:%Y-%m-%dT%H:%M:%S}"
    form = {"act": "extend", "extend-until": until, "extend-reason": REASON}
    assert client.post(f"{address}/teams/{team.pk}", form).status_code == 302
    words = Page(client.get(f"{address}/intake")).words
    assert re.search(rf"Owls [^.]+ {until[11:16]} UTC {REASON}", words)
    later = f"{database_now() + 3 * HOUR:%Y-%m-%dT%H:%M:%S}"
    assert client.post(f"{address}/intake", {"act": "extend", "until": later, "reason": REASON}).status_code == 302
    assert client.post(f"{address}/intake", {"act": "extend", "until": until, "reason": REASON}).status_code == 422
