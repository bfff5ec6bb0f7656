"""Organizers add and remove baselines with a form.

These baselines are scored, listed and exported like baselines in a bundle.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from evaluator.bundle import InvalidBundle
from server.audit.models import Entry
from server.challenges.models import Challenge, Phase, Team
from server.leaderboards.queries import board
from server.organize.services.consent import Consent
from server.submissions.models import QuotaEntry, Submission
from tests.conftest import InlineQueue, Make
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make", "one_process", "inline_queue")
Import = Callable[..., list[str]]
PAGE = "/organize/challenges/animals/phases/main/baselines"
EMPTY = "ImageId,PredictionString\na,\nb,\n"
GOOD = "ImageId,PredictionString\na,/m/cat 0.9 0.1 0.1 0.5 0.5\nb,/m/dog 0.9 0.2 0.2 0.6 0.6\n"
DECLARED = "    baselines: [{name: %s, file: baselines/b.csv}]\n"


@pytest.fixture
def imported(run: Import) -> Phase:
    run()
    return Phase.objects.get()


@pytest.fixture
def editor(make: Make, imported: Phase, client: Client) -> Client:
    imported.challenge.organizers.add(user := make.user(), through_defaults={"role": "editor"})
    client.force_login(user)
    return client


def upload(client: Client, name: str, content: str = GOOD, *, status: int = 302) -> str:
    response = client.post(PAGE, {"name": name, "file": SimpleUploadedFile("own.csv", content.encode())})
    assert response.status_code == status
    return response.content.decode()


def change(client: Client, team: Team, *, status: int = 302, **fields: str) -> None:
    assert client.post(f"{PAGE}/{team.pk}", fields).status_code == status


def listed(phase: Phase) -> list[tuple[str, float, int | None]]:
    phase.refresh_from_db()
    found = board(phase, split="public", viewer=AnonymousUser()).page(0, 10)
    return [(row.team, row.score, row.rank) for row in found]


def exported(tmp_path: Path) -> Path:
    path = tmp_path / f"{Entry.objects.count()}.zip"
    call_command("export_challenge", "animals", str(path))
    return path


def test_a_file_becomes_a_baseline_with_a_score_and_without_a_rank(
    editor: Client, imported: Phase, inline_queue: InlineQueue
) -> None:
    upload(editor, "  Center   boxes ")
    inline_queue.work()
    submission = Submission.objects.get()
    assert (submission.user, submission.team.is_baseline, submission.status) == (None, True, "scored")
    assert listed(imported) == [("Center boxes", 1.0, None)]
    assert not QuotaEntry.objects.exists()
    page = editor.get(PAGE).content.decode()
    assert "Center boxes" in page
    assert "own.csv" in page
    entries = Entry.objects.filter(subject=f"team {submission.team_id}", actor_id__isnull=False)
    assert [one.action for one in entries.order_by("number")] == ["team.added", "baseline.submitted"]
    assert entries.get(action="baseline.submitted").detail["sha256"] == submission.sha256


def test_a_new_file_for_a_known_name_belongs_to_the_same_baseline(
    editor: Client, imported: Phase, inline_queue: InlineQueue
) -> None:
    upload(editor, "Center", EMPTY)
    upload(editor, "CENTER", GOOD)
    inline_queue.work()
    assert listed(imported) == [("Center", 1.0, None)]
    assert "already has this file" in upload(editor, "Center", GOOD, status=422)


@pytest.mark.parametrize("name", ["Owls", "OWLS", "0wls", " ", "x" * 81, "Old"])
def test_a_name_that_a_team_or_a_removed_baseline_has_is_refused(
    editor: Client, imported: Phase, make: Make, name: str
) -> None:
    make.team(imported.challenge, name="Owls")
    change(editor, make.team(imported.challenge, name="Old", is_baseline=True))
    upload(editor, name, status=422)
    assert not Submission.objects.exists()
    assert Team.objects.count() == 2


def test_an_empty_file_is_refused(editor: Client) -> None:
    assert "This file is empty" in upload(editor, "Center", "", status=422)
    assert not Team.objects.exists()


def test_a_removed_baseline_is_off_the_leaderboards_until_it_is_put_back(
    editor: Client, imported: Phase, inline_queue: InlineQueue
) -> None:
    upload(editor, "Center")
    inline_queue.work()
    team = Team.objects.get()
    change(editor, team)
    assert listed(imported) == []
    assert "removed" in editor.get(PAGE).content.decode()
    change(editor, team, status=422)
    change(editor, team, put_back="1")
    assert listed(imported) == [("Center", 1.0, None)]
    change(editor, team, status=422, put_back="1")
    found = Entry.objects.filter(action__in=("baseline.removed", "baseline.put_back")).order_by("number")
    assert [one.action for one in found] == ["baseline.removed", "baseline.put_back"]


def test_a_team_of_participants_cannot_be_removed_as_a_baseline(editor: Client, imported: Phase, make: Make) -> None:
    change(editor, make.team(imported.challenge), status=404)
    change(editor, make.team(make.challenge(), is_baseline=True), status=404)


def test_an_export_contains_the_baseline_until_it_is_removed(editor: Client, imported: Phase, tmp_path: Path) -> None:
    def names() -> list[str]:
        with ZipFile(exported(tmp_path)) as archive:
            assert ("Center" in archive.read("challenge.yaml").decode()) == any(
                "own.csv" in n for n in archive.namelist()
            )
            return [name for name in archive.namelist() if "baselines/" in name]

    upload(editor, "Center")
    assert names() == ["phases/main/baselines/own.csv"]
    change(editor, Team.objects.get())
    assert names() == []


def test_an_import_without_the_baseline_keeps_it_and_says_so(editor: Client, imported: Phase, run: Import) -> None:
    upload(editor, "Center")
    assert "phase main: baseline Center remains on the leaderboard, although it is missing from the bundle" in run()
    assert Submission.objects.get().team.name == "Center"


def test_an_import_that_would_remove_the_baseline_needs_force(
    editor: Client, imported: Phase, bundle: BundleFolder, run: Import
) -> None:
    upload(editor, "Center")
    # The bundle does not contain the baseline. The first import keeps it. With a changed ground truth, the second
    # import would remove it and must be refused.
    run(by=None)
    boxes = bundle.path / "phases/main/truth/boxes.csv"
    boxes.write_text(boxes.read_text().replace("0.1,0.5,0.1,0.5", "0.1,0.5,0.1,0.6"))
    with pytest.raises(InvalidBundle) as refused:
        run()
    (problem,) = refused.value.problems
    assert problem.code == "would_undo_edit"
    assert "baseline Center was added on the server; this import would remove it" in problem.message
    assert Submission.objects.exists()
    run(consent=Consent(force=True))
    assert not Submission.objects.exists()


def test_an_import_of_its_own_export_with_another_truth_submits_the_baseline_again(
    editor: Client, imported: Phase, bundle: BundleFolder, run: Import
) -> None:
    upload(editor, "Center")
    first = Submission.objects.get()
    bundle.write("phases/main/baselines/b.csv", GOOD)
    bundle.sheet(phase=DECLARED % "Center")
    assert "phase main: baseline Center submitted" not in run()
    boxes = bundle.path / "phases/main/truth/boxes.csv"
    boxes.write_text(boxes.read_text().replace("0.1,0.5,0.1,0.5", "0.1,0.5,0.1,0.6"))
    assert "phase main: baseline Center submitted" in run()
    assert Submission.objects.get() != first


def test_an_import_that_would_rename_the_baseline_needs_force(
    editor: Client, imported: Phase, bundle: BundleFolder, run: Import
) -> None:
    upload(editor, "Center")
    bundle.write("phases/main/baselines/b.csv", GOOD)
    bundle.sheet(phase=DECLARED % "Middle")
    with pytest.raises(InvalidBundle) as refused:
        run()
    assert [one.code for one in refused.value.problems] == ["would_undo_edit"]
    assert Team.objects.get().name == "Center"


def test_an_import_that_would_give_its_file_to_another_baseline_needs_force(
    editor: Client, imported: Phase, bundle: BundleFolder, run: Import
) -> None:
    bundle.write("phases/main/baselines/b.csv", EMPTY)
    bundle.sheet(phase=DECLARED % "Middle")
    run()
    upload(editor, "Center")
    bundle.write("phases/main/baselines/b.csv", GOOD)
    with pytest.raises(InvalidBundle) as refused:
        run()
    assert [one.code for one in refused.value.problems] == ["would_undo_edit"]
    assert Submission.objects.filter(team__name="Center").exists()


def test_an_import_does_not_put_a_removed_baseline_back(
    editor: Client, imported: Phase, bundle: BundleFolder, run: Import, inline_queue: InlineQueue
) -> None:
    upload(editor, "Center", EMPTY)
    change(editor, Team.objects.get())
    bundle.write("phases/main/baselines/b.csv", GOOD)
    bundle.sheet(phase=DECLARED % "Center")
    said: Any = run()
    assert "phase main: baseline Center stays removed from the leaderboards" in said
    inline_queue.work()
    assert listed(imported) == []


def test_a_draft_without_a_ground_truth_accepts_no_baseline(editor: Client, imported: Phase) -> None:
    imported.truths.update(active=False)
    assert "no ground truth" in upload(editor, "Center", status=422)
    assert Challenge.objects.get().teams.count() == 0
