from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from server.challenges.models import Challenge, Phase, Team
from server.errors import Refused
from server.organize.services.bundles import InvalidBundle
from server.submissions.services import intake
from tests.conftest import InlineQueue, Make
from tests.server.organize.conftest import BundleFolder

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
    """Fill the disk before the second of two baselines, until the test frees it."""
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
def test_the_command_says_what_was_done_before_a_baseline_was_refused(
    bundle: BundleFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("import_challenge", bundle.path)
    said = capsys.readouterr().out.splitlines()
    assert caught.value.returncode == 4
    assert str(caught.value).startswith("phase main: baseline Corner was not submitted: The server has no room.\n")
    assert (said[0], said[-1]) == ("challenge animals: created", "phase main: baseline Center submitted")


def test_the_same_bundle_submits_later_what_was_refused(run: Import, without_room: set[str]) -> None:
    with pytest.raises(Refused):
        run()
    without_room.clear()
    assert run() == ["phase main: baseline Corner submitted"]
