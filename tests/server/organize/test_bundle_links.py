"""No file outside a bundle's folder can be read through links, special files or race conditions."""

import os
from pathlib import Path
from stat import S_IFREG

import pytest

from evaluator.bundle import InvalidBundle, copying
from server.challenges.models import Challenge
from server.organize.services import bundles, truths
from server.organize.services.importing import import_bundle
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

BASELINE = "    baselines: [{name: Center, file: baselines/center.csv}]\n"
NAMES = (
    "challenge.yaml",
    "description.md",
    "rules.md",
    "data.md",
    "logo.png",
    "phases/main/truth/boxes.csv",
    "phases/main/usage.csv",
    "phases/main/sample_submission.csv",
    "phases/main/baselines/center.csv",
    "something/unused.txt",
)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret-key"
    path.write_text("do not tell")
    return path


def mistakes(path: Path) -> list[tuple[str, str | None]]:
    with pytest.raises(InvalidBundle) as caught, bundles.opened(path):
        pass
    return [(problem.code, problem.file) for problem in caught.value.problems]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_a_bundle_that_is_a_link_is_refused(
    make: Make, bundle: BundleFolder, secret: Path, name: str
) -> None:
    bundle.sheet(phase=BASELINE)
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\na,\n")
    bundle.write(name, "").unlink()
    (bundle.path / name).symlink_to(secret)
    with pytest.raises(InvalidBundle) as caught:
        import_bundle(path=bundle.path, by=None)
    assert [(problem.code, problem.file) for problem in caught.value.problems] == [("unsafe_path", name)]
    assert not Challenge.objects.exists()


@pytest.mark.parametrize("target", ["..", "phases/main/truth", "/nowhere"])
def test_a_folder_that_is_a_link_is_refused_wherever_it_leads(make: Make, bundle: BundleFolder, target: str) -> None:
    (bundle.path / "phases" / "other").symlink_to(target)
    assert mistakes(bundle.path) == [("unsafe_path", "phases/other")]


def test_a_pipe_is_refused_without_waiting(make: Make, bundle: BundleFolder) -> None:
    os.mkfifo(bundle.path / "rules.md")
    assert mistakes(bundle.path) == [("unsafe_path", "rules.md")]


def test_every_link_is_named_at_once(make: Make, bundle: BundleFolder, secret: Path) -> None:
    for name in ("a", "b"):
        (bundle.path / name).symlink_to(secret)
    assert sorted(mistakes(bundle.path)) == [("unsafe_path", "a"), ("unsafe_path", "b")]


def test_the_path_of_a_bundle_may_contain_a_link(make: Make, bundle: BundleFolder, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(bundle.path)
    with bundles.opened(tmp_path / "link") as folder:
        assert bundles.read(folder).slug == "animals"


def test_files_left_by_other_programs_may_be_links(make: Make, bundle: BundleFolder, secret: Path) -> None:
    (bundle.path / ".git").mkdir()
    (bundle.path / ".git" / "hook").symlink_to(secret)
    with bundles.opened(bundle.path) as folder:
        assert not (folder / ".git").exists()


def test_a_link_that_replaces_a_file_while_it_is_copied_is_not_followed(
    make: Make, bundle: BundleFolder, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bundle.path / "rules.md").symlink_to(secret)
    monkeypatch.setattr(
        copying,
        "_kind",
        lambda *name: S_IFREG,
        # Simulate a file that is replaced by a link after its type has been checked.
    )
    assert mistakes(bundle.path) == [("unreadable", "rules.md")]


def test_a_link_that_replaces_a_file_after_the_copy_changes_nothing(
    make: Make, bundle: BundleFolder, secret: Path
) -> None:
    with bundles.opened(bundle.write("description.md", "honest").parent) as folder:
        (bundle.path / "description.md").unlink()
        (bundle.path / "description.md").symlink_to(secret)
        assert bundles.read(folder).description == "honest"


def test_a_further_truth_with_a_link_is_refused(make: Make, tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "truth"
    folder.mkdir()
    (folder / "boxes.csv").symlink_to(secret)
    with pytest.raises(InvalidBundle) as caught:
        truths.add(phase=make.phase(), path=folder, by=None)
    assert [problem.code for problem in caught.value.problems] == ["unsafe_path"]
