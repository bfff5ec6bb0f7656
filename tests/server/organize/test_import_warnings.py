"""The warnings of an import are reported together with its errors, and `--strict` turns them into errors."""

import pytest
from django.core.management import CommandError, call_command

from evaluator.bundle import InvalidBundle
from server.challenges.models import Challenge
from server.organize import podium
from server.organize.services.importing import import_bundle
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

DOUBTFUL = {"code": "doubtful", "message": "is odd", "line": 3, "file": "boxes.csv"}
TOLD = "phases/main/truth/boxes.csv:3: warning: doubtful is odd"


@pytest.fixture
def doubtful(make: Make, quick_podium: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the stub for `podium prepare` report that there are two warnings of one kind, with the text of only one."""
    quick = podium.answer
    warnings = {"warnings": [DOUBTFUL], "warning_counts": {"doubtful": 2}}
    monkeypatch.setattr(podium, "answer", lambda *words: quick(*words) | warnings)


def test_an_import_with_warnings_is_completed_and_reports_them(
    doubtful: None, bundle: BundleFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import_challenge", bundle.path)
    said = capsys.readouterr()
    assert TOLD in said.err.splitlines()
    assert "and 1 more of this kind" in said.err
    assert Challenge.objects.count() == 1


def test_the_strict_option_makes_every_warning_a_mistake(
    doubtful: None, bundle: BundleFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("import_challenge", bundle.path, strict=True)
    assert "boxes.csv:3: doubtful is odd" in capsys.readouterr().err
    assert not Challenge.objects.exists()


def test_warnings_are_reported_next_to_mistakes(doubtful: None, bundle: BundleFolder) -> None:
    # Without `opens_at`, the challenge opens immediately, so a closing date in the past is an error.
    bundle.sheet(challenge="closes_at: 2000-01-01T00:00:00Z\n")
    with pytest.raises(InvalidBundle) as error:
        import_bundle(path=bundle.path, by=None)
    assert [problem.code for problem in error.value.problems] == ["bad_dates"]
    assert [problem.code for problem in error.value.warnings] == ["no_contact", "date_in_past", "doubtful", "doubtful"]
