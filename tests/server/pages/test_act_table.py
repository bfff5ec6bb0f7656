"""No action of an organizer ends a phase or reveals scores by accident.

A table lists actions on the site and the confirmation that each action requires.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.audit.models import Entry
from server.challenges.shaping import signature_of
from server.organize.models import Publication, Rescoring
from server.organize.services import rescoring, truths
from tests.conftest import Make

NOW = datetime.now(UTC).replace(microsecond=0)
PAST, SOON, LAST_WEEK = NOW - timedelta(hours=1), NOW + timedelta(hours=3), NOW - timedelta(days=7)

# Confirmations that a page can require before an action: nothing, the short name of the challenge or phase, or a ticked
# box that names the consequence. REFUSED means that the action is always rejected.
NOTHING, NAME, BOX, REFUSED = "nothing", "name", "box", "refused"
OPEN: dict[str, Any] = {}
HELD = {"closes_at": PAST, "reveal": "manual"}
PENDING = {"closes_at": PAST, "reveals_at": SOON}
SHOWN = {"closes_at": PAST}
DRAFT = {"visibility": "draft"}
ARCHIVED = {"closes_at": PAST, "archived_at": PAST}
AT = f"{NOW + timedelta(days=1):%Y-%m-%dT%H:%M:%S}"
REVEAL, TAKE_BACK = ("phases/main/reveal", {}), ("phases/main/reveal", {"take_back": "1"})
ARCHIVE, UNARCHIVE = ("archive", {}), ("archive", {"take_back": "1"})
PUBLISH, SCHEDULE = (
    ("publish", {"visibility": "public"}),
    ("publish", {"visibility": "public", "schedule": "1", "at": AT}),
)
UNSCHEDULE, RESCORE = ("publish", {"unschedule": "1"}), ("phases/main/rescore", {"truth": "1"})
APPLY = ("phases/main/apply", {})

# Each row has an action, the fields of the challenge or phase before the action, and the required confirmation.
TABLE: list[tuple[tuple[str, dict[str, str]], dict[str, Any], str]] = [
    (REVEAL, HELD, NAME),
    (REVEAL, OPEN, REFUSED),
    (REVEAL, PENDING, REFUSED),
    (REVEAL, SHOWN, REFUSED),
    (TAKE_BACK, PENDING, NOTHING),
    (TAKE_BACK, SHOWN, REFUSED),
    (TAKE_BACK, HELD, REFUSED),
    (ARCHIVE, SHOWN, NAME),
    (ARCHIVE, OPEN, REFUSED),
    (ARCHIVE, HELD, REFUSED),
    (ARCHIVE, PENDING, REFUSED),
    (ARCHIVE, DRAFT, REFUSED),
    (UNARCHIVE, ARCHIVED, NOTHING),
    (PUBLISH, DRAFT, NOTHING),
    (PUBLISH, OPEN, REFUSED),
    (SCHEDULE, DRAFT, NOTHING),
    (SCHEDULE, OPEN, REFUSED),
    (UNSCHEDULE, DRAFT, NOTHING),
    (RESCORE, OPEN, BOX),
    (RESCORE, HELD, BOX),
    (RESCORE, PENDING, BOX),
    (RESCORE, SHOWN, NOTHING),
    (RESCORE, ARCHIVED, REFUSED),
    (APPLY, OPEN, NAME),
    (APPLY, HELD, NAME),
    (APPLY, PENDING, NAME),
    (APPLY, SHOWN, NOTHING),
    (APPLY, ARCHIVED, REFUSED),
]


def asked(client: Client, act: tuple[str, dict[str, str]]) -> str:
    """Carry out an action of an organizer, and return the kind of confirmation that the page required."""
    page, form = act
    address = f"/organize/challenges/c/{page}"
    if client.post(address, form).status_code == 302:
        return NOTHING
    assert not Entry.objects.exists()
    assert client.post(address, {**form, "confirm": "something"}).status_code != 302
    name = "main" if "phases" in page else "c"
    if client.post(address, {**form, "confirm": name}).status_code == 302:
        return NAME
    return BOX if client.post(address, {**form, "reveal": "on"}).status_code == 302 else REFUSED


@pytest.mark.parametrize(("act", "before", "asks"), TABLE)
@pytest.mark.usefixtures("inline_queue")
def test_an_act_asks_what_the_table_says(
    make: Make,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    act: tuple[str, dict[str, str]],
    before: dict[str, Any],
    asks: str,
) -> None:
    monkeypatch.setattr(truths, "newly_public", lambda active, later: 1)
    monkeypatch.setattr(rescoring, "bring_up_to_date", lambda truth: None)
    owner, fields = make.user(), dict(before)
    of_challenge = {name: fields.pop(name) for name in ("visibility", "archived_at") if name in fields}
    challenge = make.challenge(slug="c", opens_at=LAST_WEEK, contact="a@example.org", **of_challenge)
    challenge.organizers.add(owner)
    phase = make.phase(challenge, slug="main", **fields)
    make.truth(phase, content=b"{}")
    if act == APPLY:
        truth = phase.truths.get(version=1)
        signature = signature_of(phase, truth.sha256)
        Rescoring.objects.create(phase=phase, truth=truth, signature=signature, started_at=PAST)
    Publication.objects.create(challenge=challenge, at=SOON, visibility="public")
    client.force_login(owner)
    assert asked(client, act) == asks
    assert Entry.objects.exists() == (asks != REFUSED)


def test_the_table_has_every_kind_of_answer() -> None:
    assert {asks for *_, asks in TABLE} == {NOTHING, NAME, BOX, REFUSED}
