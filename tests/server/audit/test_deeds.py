"""Every important action is recorded in the audit log, and the README lists all kinds of log entries."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile

import server
from server.accounts.services import create_account, issue_token, revoke_token
from server.audit.models import Entry
from server.challenges import disqualification
from server.challenges.services import join, join_team
from server.submissions.models import Status
from server.submissions.services import choices, intake, lifecycle
from tests.conftest import InlineQueue, Make

ROOT = Path(server.__file__).parent
World = dict[str, Any]
Deed = Callable[[World], Any]


@pytest.fixture
def world(make: Make, inline_queue: InlineQueue) -> World:
    phase = make.phase()
    member = make.user(username="ada")
    team = make.team(phase.challenge, member)
    submission = make.submission(phase, team)
    scored = make.submission(phase, team, status=Status.SCORED, finished_at=datetime.now(UTC))
    organizer = make.user(username="boss")
    phase.challenge.organizers.add(organizer)
    out = make.team(phase.challenge, disqualified_at=datetime.now(UTC), disqualification_reason="Two accounts")
    token, _ = issue_token(user=member, name="x", scope="read", days=1)
    return {
        **{"make": make, "phase": phase, "member": member, "team": team, "token": token},
        **{"submission": submission, "scored": scored, "organizer": organizer, "out": out},
    }


def submit(world: World) -> None:
    file = ContentFile(b"ImageId,PredictionString\nnew,\n", "new.csv")
    intake.submit(user=world["member"], team=world["team"], phase=world["phase"], file=file)


DEEDS: dict[str, Deed] = {
    "account.created": lambda w: create_account(username="new", email="new@example.org"),
    "token.issued": lambda w: issue_token(user=w["member"], name="y", scope="read", days=1),
    "token.revoked": lambda w: revoke_token(token=w["token"], by=w["member"]),
    "challenge.joined": lambda w: join(user=w["make"].user(), challenge=w["phase"].challenge, accept_rules=True),
    "challenge.joined (a team)": lambda w: join_team(user=w["make"].user(), team=w["team"], accept_rules=True),
    "submission.received": submit,
    "submission.cancelled": lambda w: lifecycle.cancel(submission=w["submission"], by=w["member"]),
    "submission.note": lambda w: choices.set_note(submission=w["submission"], by=w["member"], note="x"),
    "team.disqualified": lambda w: disqualification.disqualify(
        team=w["team"], by=w["organizer"], reason="Two accounts"
    ),
    "team.reinstated": lambda w: disqualification.reinstate(team=w["out"], by=w["organizer"]),
    "submission.final": lambda w: choices.set_final(submission=w["scored"], by=w["member"], final=True),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_every_action_is_recorded_in_the_log(deed: str, world: World) -> None:
    before = Entry.objects.count()
    DEEDS[deed](world)
    (line,) = Entry.objects.order_by("number")[before:]
    assert line.action == deed.partition(" ")[0]
    assert line.actor
    assert line.subject


def test_the_readme_names_every_kind_of_entry() -> None:
    source = "\n".join(path.read_text() for path in ROOT.rglob("*.py") if "migrations" not in path.parts)
    written = set(re.findall(r'action="(\w+\.\w+)"', source))
    table = (ROOT / "audit" / "README.md").read_text().partition("## Decisions")[0]
    named = set(re.findall(r"`(\w+\.\w+)`", table))
    assert written <= named
    assert {
        "user.changed",
        "phase.changed",
        "challenge.changed",
        # The admin composes the names user.changed, phase.changed and challenge.changed, so the search in the source
        # code does not find them.
    } <= named
