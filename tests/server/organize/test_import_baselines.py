from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from evaluator.bundle import InvalidBundle
from server.audit import services as audit
from server.challenges.models import Challenge, Phase, Team
from server.errors import Refused
from server.organize.services.consent import Consent
from server.submissions.models import Submission
from server.submissions.services import intake
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api
from tests.server.organize.conftest import BundleFolder
from tests.server.page import Page

pytestmark = pytest.mark.usefixtures("make", "quick_podium", "inline_queue")

Import = Callable[..., list[str]]
BASELINE = "    baselines: [{name: Center, file: baselines/center.csv}]\n"


def test_a_baseline_is_submitted_once(bundle: BundleFolder, run: Import, inline_queue: InlineQueue) -> None:
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    said = run()
    run()
    submission = Phase.objects.get().submissions.get()
    assert (submission.team.name, submission.team.is_baseline, submission.user) == ("Center", True, None)
    assert inline_queue.sent == [submission.pk]
    assert "phase main: baseline Center submitted" in said


def test_a_changed_baseline_is_submitted_again(bundle: BundleFolder, run: Import) -> None:
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    run()
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\na,\n")
    assert run() == ["phase main: baseline Center submitted"]
    assert Phase.objects.get().submissions.count() == 2


def test_a_new_truth_scores_the_baselines_again(bundle: BundleFolder, run: Import) -> None:
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    run()
    first = Phase.objects.get().submissions.get()
    bundle.write("phases/main/truth/images.csv", "ImageID\na\nb\n")
    run()
    assert Phase.objects.get().submissions.get() != first


@pytest.fixture
def imported(bundle: BundleFolder, run: Import) -> Team:
    """Import a bundle with one baseline, and return the team that represents the baseline."""
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    run()
    return Team.objects.get()


def entries() -> list[tuple[str, str]]:
    """For each submission, return the slug of its phase and the name of its baseline."""
    return sorted(Submission.objects.values_list("phase__slug", "team__name"))


@pytest.mark.parametrize("name", ["Middle", "CENTER"])
def test_a_renamed_baseline_remains_one_entry(bundle: BundleFolder, run: Import, imported: Team, name: str) -> None:
    bundle.sheet(phase=BASELINE.replace("Center", name))
    assert run() == [f"baseline Center: renamed to {name}"]
    assert Team.objects.get() == imported
    assert entries() == [("main", name)]
    assert run() == ["nothing changed"]


def test_a_baseline_that_is_renamed_in_one_of_two_phases_remains_one_entry_in_each(
    bundle: BundleFolder, run: Import, imported: Team
) -> None:
    for name in ("boxes.csv", "image_labels.csv"):
        bundle.write(f"phases/other/truth/{name}", (bundle.path / "phases/main/truth" / name).read_bytes())
    bundle.write("phases/other/baselines/center.csv", "ImageId,PredictionString\n")
    other = "  - slug: other\n    track: openimages-detection\n"
    bundle.sheet(phase=BASELINE + other + BASELINE)
    run()
    bundle.sheet(phase=BASELINE + other + BASELINE.replace("Center", "Middle"))
    assert "phase other: baseline Center is now Middle" in run()
    assert entries() == [("main", "Center"), ("other", "Middle")]


def test_a_different_name_with_a_different_file_is_a_new_baseline(
    bundle: BundleFolder, run: Import, imported: Team
) -> None:
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\na,\n")
    bundle.sheet(phase=BASELINE.replace("Center", "Middle"))
    assert "phase main: baseline Center remains on the leaderboard, although it is missing from the bundle" in run()
    assert entries() == [("main", "Center"), ("main", "Middle")]


def test_a_file_that_takes_the_name_of_another_baseline_is_not_submitted_twice(
    bundle: BundleFolder, run: Import, imported: Team
) -> None:
    bundle.write("phases/main/baselines/corner.csv", "ImageId,PredictionString\na,\n")
    both = BASELINE.replace("]", ", {name: Corner, file: baselines/corner.csv}]")
    bundle.sheet(phase=both)
    run()
    bundle.sheet(phase=BASELINE.replace("Center", "Corner"))
    run()
    assert entries() == [("main", "Corner"), ("main", "Corner")]


def test_a_baseline_that_was_renamed_on_the_server_keeps_its_name_without_force(
    bundle: BundleFolder, run: Import, imported: Team
) -> None:
    Team.objects.update(name="Middle")
    audit.record(actor=None, action="team.changed", subject=f"team {imported.pk}", detail={"fields": ["name"]})
    with pytest.raises(InvalidBundle) as caught:
        run()
    (problem,) = caught.value.problems
    assert problem.code == "would_undo_edit"
    assert (
        "baseline Middle: name was edited on the server; this import would change it from Middle to Center"
        in problem.message
    )
    assert entries() == [("main", "Middle")]
    run(consent=Consent(force=True))
    assert entries() == [("main", "Center")]


def test_a_baseline_named_like_a_team_is_a_mistake(make: Make, bundle: BundleFolder, run: Import) -> None:
    run()
    make.team(Challenge.objects.get(), name="CENTER")
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    with pytest.raises(InvalidBundle) as caught:
        run()
    assert [(problem.code, problem.line) for problem in caught.value.problems] == [("baseline_name_taken", 6)]


@pytest.fixture
def without_room(bundle: BundleFolder, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Add two baselines to the bundle, and reject the submission of the second one as if the disk were full.

    Return the set of the rejected baselines' names. A test can clear the set to simulate that there is space again.
    """
    names = {"Corner"}
    submit = intake.submit

    def refuse(*, team: Team, **about: Any) -> Any:
        if team.name in names:
            raise Refused("no_space", "The server has no room.")
        return submit(team=team, **about)

    monkeypatch.setattr(intake, "submit", refuse)
    for name in ("center", "corner"):
        bundle.write(f"phases/main/baselines/{name}.csv", f"ImageId,PredictionString\n{name},\n")
    other = "{name: Corner, file: baselines/corner.csv}"
    bundle.sheet(phase=BASELINE.replace("]", f", {other}]"))
    return names


@pytest.mark.usefixtures("without_room")
def test_the_command_reports_the_changes_made_before_a_baseline_was_refused(
    bundle: BundleFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("import_challenge", bundle.path)
    said = capsys.readouterr().out.splitlines()
    assert caught.value.returncode == 4
    assert str(caught.value).startswith("phase main: baseline Corner was not submitted: The server has no room.\n")
    assert (said[0], said[-1]) == ("challenge animals: created", "phase main: baseline Center submitted")


@pytest.mark.usefixtures("without_room")
def test_page_and_api_report_that_the_challenge_was_imported_although_a_baseline_was_refused(
    bundle: BundleFolder, make: Make, client: Client, api: Api, tmp_path: Path
) -> None:
    content, staff = bundle.zipped(tmp_path / "bundle.zip").read_bytes(), make.user(is_staff=True)
    client.force_login(staff)
    page = Page(client.post("/organize/import", {"file": SimpleUploadedFile("bundle.zip", content)}))
    answer = api.upload("challenges", file=content, user=staff, scope="organize")
    assert (page.status, answer.status_code) == (507, 507)
    for text in (page.words, answer.json()["detail"]):
        assert "The challenge was imported, but this baseline and those after it are missing." in text


def test_importing_the_same_bundle_again_submits_refused_baselines(run: Import, without_room: set[str]) -> None:
    with pytest.raises(Refused):
        run()
    without_room.clear()
    assert run() == ["phase main: baseline Corner submitted"]
