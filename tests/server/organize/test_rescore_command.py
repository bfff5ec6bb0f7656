"""Tests the output of `manage.py rescore`, whose preview changes nothing."""

from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.management import CommandError, call_command

from server.challenges.models import Phase, Truth
from server.challenges.shaping import signature_of
from server.leaderboards.queries import board
from server.organize.management.commands import rescore
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.submissions.models import Evaluation
from tests.conftest import Make
from tests.server.conftest import Scored, evaluate, refresh_boards

pytestmark = [pytest.mark.usefixtures("inline_queue"), pytest.mark.phase(challenge={"slug": "animals"}, slug="main")]
TRUTH = {
    "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,/m/cat,0.1,0.5,0.1,0.5,0\n",
    "image_labels.csv": "ImageID,LabelName,Confidence\na,/m/cat,1\n",
}


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    for name, text in TRUTH.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def ready(phase: Phase, make: Make, scored: Scored, truth: Path) -> Truth:
    """Begin a rescoring and record all of its scores. With these scores, team B overtakes team A."""
    teams = {name: make.team(phase.challenge, name=name) for name in "AB"}
    pair = [scored(phase, score, team=teams[name]) for name, score in (("A", 0.6), ("B", 0.5))]
    newer = rescore.truths.add(phase=phase, path=truth, by=None)
    begun = rescoring.start(phase=phase, by=None)
    for submission, value in zip(pair, (0.3, 0.4), strict=True):
        evaluate(submission, {"public": {"mAP": value}}, truth=newer, signature=begun.signature)
    return newer


def test_a_preview_lists_the_ranks_that_change_and_changes_nothing(
    phase: Phase, ready: Truth, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("rescore", "animals", "main", "--preview")
    said = capsys.readouterr().out
    assert "public: B: rank 2 to 1, score 0.5 to 0.4\npublic: A: rank 1 to 2, score 0.6 to 0.3\n" in said
    assert Phase.objects.get().truth != ready


def test_the_change_log_contains_the_reason_of_the_operator(phase: Phase, ready: Truth) -> None:
    call_command("rescore", "animals", "main", "--reason", "Two classes were swapped.", "--signed", "The staff")
    assert Rescoring.objects.values_list("reason", "signed").get() == ("Two classes were swapped.", "The staff")


@pytest.mark.parametrize("way", ["--preview", "--discard"])
def test_a_reason_that_would_have_no_effect_is_refused(phase: Phase, ready: Truth, way: str) -> None:
    with pytest.raises(CommandError, match="cannot be combined"):
        call_command("rescore", "animals", "main", way, "--reason", "Because")


def test_without_preview_a_rescoring_is_applied(phase: Phase, ready: Truth, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("rescore", "animals", "main")
    assert capsys.readouterr().out.endswith("applied\n")
    assert Phase.objects.get().truth == ready


def test_the_command_does_not_wait_forever_for_a_worker(
    phase: Phase, scored: Scored, truth: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored(phase, 0.5)
    monkeypatch.setattr(rescore, "MAX_IDLE_SECONDS", 0.0)
    with pytest.raises(CommandError, match="Is the service running"):
        call_command("rescore", "animals", "main", truth=truth)


def test_every_fault_of_a_truth_is_reported_with_its_line(phase: Phase, truth: Path) -> None:
    (truth / "image_labels.csv").unlink()
    with pytest.raises(CommandError, match="truth_missing_file"):
        call_command("rescore", "animals", "main", truth=truth)


def test_an_unknown_phase_is_reported(db: None) -> None:
    with pytest.raises(CommandError, match="no phase main in challenge nowhere"):
        call_command("rescore", "nowhere", "main")


def boards(phase: Phase) -> list[tuple[str, float]]:
    shown = board(Phase.objects.get(pk=phase.pk), split="public", viewer=AnonymousUser())
    return [(row.team, row.score) for row in shown.rows]


def test_a_version_can_be_given_by_its_number_or_by_a_folder(
    phase: Phase, ready: Truth, truth: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at_first = boards(phase)
    call_command("rescore", "animals", "main", truth="2")
    assert boards(phase) == [("B", 0.4), ("A", 0.3)]
    Evaluation.objects.filter(truth__version=1).update(
        signature=signature_of(phase, phase.truths.get(version=1).sha256)
    )
    refresh_boards()
    for named in ("1", "v1"):
        capsys.readouterr()
        call_command("rescore", "animals", "main", truth=named)
        said = capsys.readouterr().out
        assert "rescoring against ground truth version 1 " in said
        assert "the leaderboards of animals/main show ground truth version 1 " in said
        assert boards(phase) == at_first
    # The folder `truth` contains version 2 of the ground truth.
    call_command("rescore", "animals", "main", truth=str(truth))
    assert "show ground truth version 2 " in capsys.readouterr().out
    assert boards(phase) == [("B", 0.4), ("A", 0.3)]


def test_an_unknown_version_is_reported(phase: Phase) -> None:
    with pytest.raises(CommandError, match=r"no ground truth version 5. Its versions are: 1 \(active\)"):
        call_command("rescore", "animals", "main", truth="5")


def test_a_preview_reports_the_active_truth_and_the_open_rescoring(
    phase: Phase, ready: Truth, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("rescore", "animals", "main", "--preview")
    said = capsys.readouterr().out
    assert "the leaderboards of animals/main show ground truth version 1 " in said
    assert "a rescoring against ground truth version 2 " in said
    assert "applied\n" not in said


@pytest.mark.parametrize(
    "more", [["--truth", "1"], ["--reveal"], ["--retry"], ["--without-unscorable"]], ids=lambda words: words[0]
)
def test_discarding_refuses_options_that_have_no_effect(phase: Phase, ready: Truth, more: list[str]) -> None:
    call_command("rescore", "animals", "main", "--preview")
    with pytest.raises(CommandError, match="--discard cannot be combined with other options"):
        call_command("rescore", "animals", "main", "--discard", *more)
    with pytest.raises(CommandError, match="--preview changes nothing"):
        call_command("rescore", "animals", "main", "--preview", "--without-unscorable")
    assert Rescoring.objects.count() == 1


def test_a_preview_can_be_discarded(phase: Phase, ready: Truth, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("rescore", "animals", "main", "--preview")
    call_command("rescore", "animals", "main", "--discard")
    assert capsys.readouterr().out.endswith("discarded\n")
    assert not Rescoring.objects.exists()
    with pytest.raises(CommandError, match="There is no rescoring to discard"):
        call_command("rescore", "animals", "main", "--discard")
