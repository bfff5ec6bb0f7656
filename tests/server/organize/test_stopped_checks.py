"""If the process that checks a bundle fails or is killed, the error message is clear, and no temporary files remain."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from evaluator.bundle import InvalidBundle
from server.challenges.models import Challenge
from server.organize.services import importing
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.child_process

PROGRAM = "import os, signal, tempfile\ntempfile.mkdtemp()\nprint('ceiling: green', flush=True)\n"
ENDINGS = [
    pytest.param("raise SystemError('broken')", "failed with status 1", id="error"),
    pytest.param("os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL, probably because", id="kill"),
]


@pytest.fixture
def program(tmp_path: Path, settings: Settings) -> Path:
    """Return the path of a program that is run in child processes instead of `podium`. Tests write this file."""
    path = tmp_path / "program" / "evaluator" / "__main__.py"
    path.parent.mkdir(parents=True)
    settings.BASE_DIR = tmp_path / "program"
    return path


def remaining(settings: Settings) -> list[Path]:
    kinds = ("bundle-", "import-", "podium-", "truth-")
    return [path for path in settings.FILE_UPLOAD_TEMP_DIR.iterdir() if path.name.startswith(kinds)]


@pytest.mark.django_db
@pytest.mark.usefixtures("quick_podium")
@pytest.mark.parametrize(("ending", "reason"), ENDINGS)
def test_an_import_with_progress_whose_gate_stops_leaves_nothing(
    ending: str, reason: str, bundle: BundleFolder, program: Path, settings: Settings
) -> None:
    program.write_text(PROGRAM + ending)
    seen: list[str] = []
    with pytest.raises(InvalidBundle) as caught:
        importing.import_bundle(path=bundle.path, by=None, progress=seen.append)
    (problem,) = caught.value.problems
    assert seen == ["phase main: gate: ceiling: green"]
    assert problem.code == "check_stopped"
    assert reason in problem.message
    assert (Challenge.objects.count(), remaining(settings)) == (0, [])


@pytest.mark.parametrize(("ending", "reason"), ENDINGS)
def test_an_upload_or_command_whose_check_stops_has_a_clear_answer(
    ending: str, reason: str, bundle: BundleFolder, program: Path, api: Api, make: Make, settings: Settings,
    tmp_path: Path,
) -> None:  # fmt: skip
    program.write_text(PROGRAM + ending)
    content = bundle.zipped(tmp_path / "bundle.zip").read_bytes()
    user = make.user(is_staff=True)
    told = api.upload("challenges", file=content, name="bundle.zip", user=user, scope="organize")
    assert (told.status_code, told.json()["faults"][0]["code"]) == (422, "check_stopped")
    assert reason in told.json()["faults"][0]["message"]
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("import_challenge", bundle.path)
    assert (Challenge.objects.count(), remaining(settings)) == (0, [])
