"""Organizers cannot undo an edit or reveal scores by accident when they upload a bundle or a ground truth.

Two tables list such uploads, and the confirmation checkboxes that must be ticked for each of them.
Edits with forms are tested in `tests/server/pages/test_edit_table.py`.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from server.challenges.models import Challenge, Phase
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.api.test_organizing import zipped
from tests.server.organize.conftest import BOXES as BOX_LINES
from tests.server.organize.conftest import LABELS, BundleFolder
from tests.server.pages.edits import save

pytestmark = pytest.mark.usefixtures("make", "one_process", "inline_queue")
Import = Callable[..., list[str]]
Values = dict[str, Any]

NOW = datetime.now(UTC).replace(microsecond=0)
PAST, SOON, LATER = (NOW + timedelta(hours=hours) for hours in (-1, 1, 24 * 30))
# The checkboxes that an upload requires: none, "undo edits" (force), "reveal", or both. REFUSED means that the upload
# is rejected whichever checkboxes are ticked.
NOTHING, FORCE, REVEAL, BOTH, REFUSED = "nothing", "force", "reveal", "both", "refused"
BOXES: dict[str, dict[str, str]] = {
    NOTHING: {},
    FORCE: {"force": "on"},
    REVEAL: {"reveal": "on"},
    BOTH: {"force": "on", "reveal": "on"},
}
SAME: Values = {}
USAGE = "ImageID,Usage\na,Public\nb,Private\n"
PUBLIC_USAGE = USAGE.replace("Private", "Public")
TRUTH = {"boxes.csv": BOX_LINES, "image_labels.csv": LABELS, "usage.csv": USAGE}


def line(name: str, moment: datetime) -> str:
    return f"    {name}: {moment:%Y-%m-%dT%H:%M:%SZ}\n"


ROUNDED, EXACT = "    feedback: {scores: rounded, decimals: 3}\n", "    feedback: {scores: exact}\n"
CLOSED = {"closes_at": PAST}
EXTENDED = f"{LATER:%Y-%m-%dT%H:%M:%S}"

# Each test case: the lines of the phase in the first bundle, an edit on the site, fields that are set directly in the
# database, the lines of the phase in the second bundle, and the checkboxes that the second import requires.
IMPORTS: list[tuple[str, tuple[type[Any], Values] | None, Values, str, str]] = [
    ("", None, SAME, "", NOTHING),
    ("", (Challenge, {"title": "Dogs"}), SAME, "", FORCE),
    ("", (Challenge, {"rules": "# Fair"}), SAME, "", FORCE),
    ("", (Phase, {"quota_per_day": 7}), SAME, "", FORCE),
    ("", (Phase, {"closes_at": EXTENDED}), SAME, "", FORCE),
    ("", (Phase, {"feedback": "rounded", "feedback_decimals": 3}), SAME, "", BOTH),
    ("", (Phase, {"reveal": "manual"}), SAME, "", BOTH),
    ("", (Phase, {"reveal": "manual"}), CLOSED, line("closes_at", PAST), BOTH),
    (
        line("closes_at", SOON),
        (Phase, {"closes_at": EXTENDED}),
        SAME,
        line("closes_at", SOON),
        BOTH,
    ),
    ("", None, SAME, line("closes_at", LATER), NOTHING),
    ("", None, SAME, line("closes_at", SOON), REVEAL),
    ("", None, SAME, line("closes_at", PAST), REVEAL),
    (ROUNDED, None, SAME, EXACT, REVEAL),
    (EXACT, None, SAME, ROUNDED, NOTHING),
    ("", None, SAME, "    feedback: {classes: true}\n", REVEAL),
    ("", None, SAME, "    finals: 1\n", NOTHING),
    ("", None, {"closes_at": PAST, "revealed_at": PAST}, line("closes_at", LATER), REFUSED),
    ("", None, {"archived_at": PAST}, "    finals: 1\n", REFUSED),
]
# Each test case: fields of the phase, the changed ground truth files, and the checkboxes that the upload requires.
TRUTHS: list[tuple[Values, dict[str, str], str]] = [
    (SAME, {}, NOTHING),
    (SAME, {"boxes.csv": TRUTH["boxes.csv"].replace("0.5", "0.6")}, NOTHING),
    (SAME, {"usage.csv": PUBLIC_USAGE}, REVEAL),
    (CLOSED | {"reveal": "manual"}, {"usage.csv": PUBLIC_USAGE}, REVEAL),
    (CLOSED | {"reveals_at": SOON}, {"usage.csv": PUBLIC_USAGE}, REVEAL),
    (CLOSED, {"usage.csv": PUBLIC_USAGE}, NOTHING),
    (SAME, {"boxes.csv": "ImageID\n"}, REFUSED),
    ({"archived_at": PAST}, {}, REFUSED),
]


@pytest.fixture
def owner(make: Make, client: Client) -> Client:
    client.force_login(make.user(username="olga", is_staff=True))
    return client


def state() -> list[Values]:
    return [*Challenge.objects.values(), *Phase.objects.values(), *Submission.objects.values("pk")]


def boxes_required(upload: Callable[[dict[str, str]], int]) -> str:
    """Try an upload with each combination of checkboxes. Return the first combination that is accepted."""
    for name, boxes in BOXES.items():
        before = state()
        if upload(boxes) == 200:
            return name
        assert state() == before
    return REFUSED


def set_fields(fields: Values) -> None:
    for model in (Challenge, Phase):
        own = {name: value for name, value in fields.items() if hasattr(model, name)}
        if model is Phase or set(own) == {"archived_at"}:
            model._default_manager.update(**own)


@pytest.mark.parametrize(("older", "edit", "fields", "newer", "boxes"), IMPORTS, ids=range(len(IMPORTS)))
def test_an_import_requires_the_boxes_of_the_table(
    owner: Client,
    bundle: BundleFolder,
    run: Import,
    tmp_path: Path,
    older: str,
    edit: tuple[type[Any], Values] | None,
    fields: Values,
    newer: str,
    boxes: str,
) -> None:
    bundle.sheet(phase=older)
    run()
    Challenge.objects.update(opens_at=NOW - timedelta(days=7))
    if edit is not None:
        assert save(owner, edit[0].objects.get(), **edit[1]).status_code == 302
    set_fields(fields)
    bundle.sheet(phase=newer, challenge=f"opens_at: {NOW - timedelta(days=7):%Y-%m-%dT%H:%M:%SZ}\n")
    content = bundle.zipped(tmp_path / "older.zip").read_bytes()

    def upload(given: dict[str, str]) -> int:
        file = SimpleUploadedFile("older.zip", content)
        return owner.post("/organize/import", {"file": file, **given}).status_code

    assert boxes_required(upload) == boxes


@pytest.mark.parametrize(("fields", "files", "boxes"), TRUTHS, ids=range(len(TRUTHS)))
def test_a_ground_truth_requires_the_boxes_of_the_table(
    owner: Client, bundle: BundleFolder, run: Import, fields: Values, files: dict[str, str], boxes: str
) -> None:
    for name, content in TRUTH.items():
        bundle.write(f"phases/main/truth/{name}", content)
    run()
    Challenge.objects.update(opens_at=NOW - timedelta(days=7))
    set_fields(fields)
    before = state()

    def upload(given: dict[str, str]) -> int:
        file = SimpleUploadedFile("truth.zip", zipped(TRUTH | files))
        return owner.post("/organize/challenges/animals/phases/main/truth", {"file": file, **given}).status_code

    assert boxes_required(upload) == boxes
    assert state() == before  # A new ground truth has no effect until a rescoring uses it.


def test_the_table_has_every_kind_of_answer() -> None:
    assert {boxes for *_, boxes in IMPORTS} == {NOTHING, FORCE, REVEAL, BOTH, REFUSED}
    assert {boxes for *_, boxes in TRUTHS} == {NOTHING, REVEAL, REFUSED}
    assert len(IMPORTS) + len(TRUTHS) >= 25
