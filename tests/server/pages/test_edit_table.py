"""No edit ends a phase or reveals scores by accident.

A table lists which edits are saved at once, which must be confirmed, and which are rejected.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.audit.models import Entry
from server.challenges.models import Phase
from tests.conftest import Make
from tests.server.pages.edits import save

NOW = datetime.now(UTC).replace(microsecond=0)
PAST, SOON, TOMORROW, LATER = (NOW + timedelta(hours=hours) for hours in (-1, 1, 25, 24 * 30))
LAST_WEEK = NOW - timedelta(days=7)

# An edit that ends a phase or reveals scores is saved only after the organizer types the short name of the challenge or
# phase. Other edits are saved at once or rejected.
NOTHING, NAME, REFUSED = "nothing", "name", "refused"
RUNNING: dict[str, Any] = {}
UPCOMING = {"opens_at": TOMORROW, "closes_at": LATER}
OVER = {"closes_at": PAST}
REVEALED = {"closes_at": PAST, "revealed_at": PAST}
ROUNDED = {"feedback": "rounded", "feedback_decimals": 3}
LADDER = {"feedback": "ladder"}
MANUAL = {"reveal": "manual"}
AT_CLOSE = {"reveal": "at_close"}
PENDING = {"closes_at": PAST, "reveals_at": NOW + timedelta(hours=3)}
ARCHIVED = {"archived_at": PAST}
EXACT = {"feedback": "exact", "feedback_decimals": ""}


def text(moment: datetime, zone: str = "") -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}{zone}"


# Each test case: the edited object, the fields of the phase before the edit, the edit, and the expected result.
TABLE: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("phase", RUNNING, {"closes_at": text(PAST)}, NAME),
    ("phase", RUNNING, {"closes_at": text(SOON)}, NAME),
    ("phase", RUNNING, {"closes_at": text(TOMORROW)}, NOTHING),
    ("phase", {"closes_at": SOON}, {"closes_at": text(LATER)}, NOTHING),
    ("phase", {"closes_at": SOON}, {"closes_at": ""}, NOTHING),
    # Moving the end to less than 24 hours from now must be confirmed. TOMORROW is 25 hours from now in UTC. The same
    # clock time is 23 hours from now in the time zone UTC+2, and 27 hours from now in UTC-2.
    ("phase", RUNNING, {"closes_at": text(TOMORROW, "+02:00")}, NAME),
    ("phase", RUNNING, {"closes_at": text(TOMORROW, "-02:00")}, NOTHING),
    ("phase", RUNNING, {"closes_at": text(SOON, "+05:00")}, NAME),
    ("phase", RUNNING, {"opens_at": text(TOMORROW)}, NAME),
    ("phase", UPCOMING, {"opens_at": text(SOON)}, NOTHING),
    ("phase", UPCOMING, {"closes_at": text(TOMORROW + timedelta(hours=1))}, NOTHING),
    ("phase", UPCOMING, {"closes_at": text(SOON)}, REFUSED),
    ("phase", OVER, {"closes_at": text(LATER)}, NOTHING),
    ("phase", REVEALED, {"closes_at": text(LATER)}, REFUSED),
    ("challenge", RUNNING, {"closes_at": text(PAST)}, NAME),
    ("challenge", RUNNING, {"closes_at": text(SOON)}, NAME),
    ("challenge", RUNNING, {"closes_at": text(LATER)}, NOTHING),
    ("challenge", RUNNING, {"opens_at": text(TOMORROW)}, NAME),
    ("challenge", {"closes_at": LATER}, {"closes_at": text(TOMORROW)}, REFUSED),
    ("phase", RUNNING, {"finals": 3}, NOTHING),
    ("phase", RUNNING, {"finals": 0}, REFUSED),
    ("phase", OVER, {"finals": 1}, NAME),
    ("phase", REVEALED, {"finals": 1}, NAME),
    ("phase", RUNNING, {"quota_per_day": 50}, NOTHING),
    ("phase", ROUNDED, EXACT, NAME),
    ("phase", ROUNDED, {"feedback_decimals": 4}, NAME),
    ("phase", ROUNDED, {"feedback_decimals": 2}, NOTHING),
    ("phase", ROUNDED, {"feedback_decimals": ""}, REFUSED),
    ("phase", ROUNDED | UPCOMING, EXACT, NOTHING),
    ("phase", ROUNDED | OVER, EXACT, NAME),
    ("phase", RUNNING, ROUNDED, NOTHING),
    ("phase", LADDER, EXACT, NAME),
    ("phase", LADDER, {"ladder_standard_errors": 1}, NAME),
    ("phase", LADDER, {"ladder_standard_errors": 3}, NOTHING),
    # If the margin is empty, it is 2.
    ("phase", LADDER | {"ladder_standard_errors": 1}, {"ladder_standard_errors": ""}, NOTHING),
    ("phase", LADDER | {"ladder_standard_errors": 3}, {"ladder_standard_errors": ""}, NAME),
    ("phase", LADDER | OVER, EXACT, NOTHING),
    ("phase", RUNNING, {"feedback_classes": True}, NAME),
    ("phase", OVER, {"feedback_classes": True}, NAME),
    ("phase", LADDER, {"feedback_classes": True}, REFUSED),
    ("phase", RUNNING, MANUAL, NOTHING),
    ("phase", MANUAL, AT_CLOSE, NAME),
    ("phase", MANUAL | OVER, AT_CLOSE, NAME),
    ("phase", MANUAL, {"closes_at": text(PAST)}, NAME),
    ("phase", MANUAL | OVER, {"closes_at": text(LATER)}, NOTHING),
    ("phase", MANUAL | LADDER | OVER, EXACT, NAME),
    ("phase", PENDING, {"closes_at": text(LATER)}, NOTHING),
    ("phase", PENDING, MANUAL, NOTHING),
    ("phase", REVEALED, MANUAL, REFUSED),
    ("phase", REVEALED | {"reveals_at": PAST} | MANUAL, {"closes_at": text(LATER)}, REFUSED),
    ("phase", ARCHIVED, {"title": "New title"}, REFUSED),
    ("phase", ARCHIVED, {"closes_at": text(LATER)}, REFUSED),
    ("challenge", ARCHIVED, {"rules": "# New rules"}, REFUSED),
    ("challenge", ARCHIVED, {"visibility": "private"}, REFUSED),
    ("phase", RUNNING, {"freeze_at": text(PAST)}, NOTHING),
    ("phase", UPCOMING, {"freeze_at": text(SOON)}, REFUSED),
    ("phase", RUNNING, {"freeze_at": text(LAST_WEEK - timedelta(hours=1))}, REFUSED),
    ("challenge", {"freeze_at": SOON}, {"opens_at": text(TOMORROW)}, REFUSED),
    ("phase", {"freeze_at": PAST}, {"freeze_at": ""}, NAME),
    ("phase", {"freeze_at": PAST}, {"freeze_at": text(LATER)}, NAME),
    ("phase", {"freeze_at": PAST}, {"freeze_at": text(LAST_WEEK)}, NOTHING),
    ("phase", {"freeze_at": SOON}, {"freeze_at": ""}, NOTHING),
    ("phase", {"freeze_at": LAST_WEEK} | OVER, {"freeze_at": ""}, NOTHING),
    # Until the private scores are shown, the public leaderboard stays frozen even after the end of the phase.
    ("phase", {"freeze_at": LAST_WEEK} | OVER | MANUAL, {"freeze_at": ""}, NAME),
    ("phase", {"freeze_at": LAST_WEEK} | PENDING, {"freeze_at": text(LATER)}, NAME),
    ("challenge", {"visibility": "private"}, {"visibility": "public"}, NAME),
    ("challenge", {"visibility": "private"}, {"visibility": "unlisted"}, NAME),
    ("challenge", RUNNING, {"visibility": "private"}, NOTHING),
    ("challenge", RUNNING, {"rules": "# New rules", "contact": "a@example.org"}, NOTHING),
]


def asked(client: Client, row: Any, edit: dict[str, Any]) -> str:
    """Try to save an edit without confirmation, and then with the short name of the edited row.

    Return the kind of confirmation that was required, or REFUSED if both attempts are rejected.
    """
    first = save(client, row, **edit)
    if first.status_code == 302:
        return NOTHING
    assert first.status_code in (409, 422)
    assert not Entry.objects.filter(action__endswith=".changed").exists()
    wrong = save(client, row, **edit, confirm="something")
    assert wrong.status_code == first.status_code
    confirmed = save(client, row, **edit, confirm=row.slug)
    if confirmed.status_code == 302:
        assert first.context["form"].consequences
        return NAME
    return REFUSED


@pytest.mark.parametrize(("kind", "before", "edit", "asks"), TABLE)
def test_an_edit_asks_what_the_table_says(
    make: Make, client: Client, kind: str, before: dict[str, Any], edit: dict[str, Any], asks: str
) -> None:
    owner = make.user()
    fields = dict(before)
    of_challenge = {name: fields.pop(name) for name in ("visibility", "archived_at") if name in fields}
    challenge = make.challenge(slug="c", opens_at=LAST_WEEK, **of_challenge)
    challenge.organizers.add(owner)
    phase = make.phase(challenge, slug="main", **fields)
    make.submission(phase)
    client.force_login(owner)
    row = Phase.objects.get() if kind == "phase" else challenge
    assert asked(client, row, edit) == asks
    changed = Entry.objects.filter(action=f"{kind}.changed", subject=f"{kind} {row.pk}")
    assert changed.exists() == (asks != REFUSED)


def test_the_table_has_every_kind_of_answer() -> None:
    assert {asks for *_, asks in TABLE} == {NOTHING, NAME, REFUSED}
    assert len(TABLE) >= 25


@pytest.mark.parametrize("edit", [{"closes_at": text(PAST)}, {"feedback_classes": True}])
def test_only_an_owner_may_end_or_reveal(make: Make, client: Client, edit: dict[str, Any]) -> None:
    editor = make.user()
    challenge = make.challenge(slug="c", opens_at=LAST_WEEK)
    challenge.organizers.add(editor, through_defaults={"role": "editor"})
    phase = make.phase(challenge, slug="main")
    client.force_login(editor)
    assert save(client, phase, **edit, confirm="main").status_code == 403
    assert save(client, phase, title="New title").status_code == 302
    assert Phase.objects.get().title == "New title"
    assert not Phase.objects.get().feedback_classes
