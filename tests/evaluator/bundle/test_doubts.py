"""Reading a bundle produces warnings about content that is probably a mistake."""

from pathlib import Path

import pytest

from evaluator.bundle import Mistakes, read_with_mistakes
from tests.evaluator.bundle.test_schema import SHEET


def warned(folder: Path, sheet: str = SHEET) -> list[tuple[str, str | None, str | None]]:
    (folder / "challenge.yaml").write_text(sheet)
    mistakes = Mistakes()
    read_with_mistakes(folder, mistakes)
    return [(one.code, one.file, one.column) for one in mistakes.warnings]


@pytest.mark.parametrize(
    ("file", "place", "meant"),
    [
        ("descripton.md", "descripton.md", "description.md"),
        ("phases/main/truth/boxs.csv", "phases/main/truth/boxs.csv", "boxes.csv"),
        ("phases/mian/usage.csv", "phases/mian", "main"),
    ],
)
def test_a_file_that_is_not_read_has_a_warning_with_the_nearest_name(
    file: str, place: str, meant: str, tmp_path: Path
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert warned(tmp_path) == [("unread_file", place, None)]
    mistakes = Mistakes()
    read_with_mistakes(tmp_path, mistakes)
    assert mistakes.warnings[0].message == f"is ignored; did you mean {meant}?"


def test_a_readme_needs_no_warning(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    assert warned(tmp_path) == []


@pytest.mark.parametrize(
    ("quota", "codes"),
    [
        ("{per_day: 5, total: 200, attempts_per_day: 5}", 0),
        ("{per_day: 5, total: 4}", 1),
        ("{per_day: 5, attempts_per_day: 4}", 1),
        ("{per_day: 5, total: 4, attempts_per_day: 4}", 2),
    ],
)
def test_quotas_that_contradict_each_other_have_a_warning(quota: str, codes: int, tmp_path: Path) -> None:
    sheet = f"{SHEET}    quota: {quota}\n"
    assert warned(tmp_path, sheet) == [("contradicting_quota", "challenge.yaml", "phases[0].quota")] * codes
