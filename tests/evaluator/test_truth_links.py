"""Only regular files in a ground truth folder are read. Links and special files are reported as faults."""

import os
from pathlib import Path

import pytest

from evaluator.files.regular import NotRegular, read_regular
from evaluator.problems import InvalidTruth
from evaluator.scoring import prepare
from tests.evaluator.test_truth_faults import BOXES, DETECTION, GOOD, folder


def faults(truth: Path, out: Path, track: str = DETECTION) -> list[tuple[str, str | None]]:
    with pytest.raises(InvalidTruth) as error:
        prepare(track, truth, out)
    return [(problem.code, problem.file) for problem in error.value.problems]


@pytest.mark.parametrize("name", ["boxes.csv", "hierarchy.json", "usage.csv", "boxes.csv.gz"])
@pytest.mark.parametrize("is_inside", [True, False])
def test_a_file_that_is_a_link_is_a_fault(tmp_path: Path, name: str, is_inside: bool) -> None:
    truth = folder(tmp_path, boxes_csv=None, hierarchy_json=None)
    if name != "boxes.csv":
        (truth / "boxes.csv").write_text(GOOD["boxes.csv"])
    elsewhere = (truth if is_inside else tmp_path) / "secret.csv"
    elsewhere.write_text(BOXES)
    (truth / name).symlink_to(elsewhere)
    assert ("truth_unsafe_path", name) in faults(truth, tmp_path / "t.podium")


def test_a_folder_that_is_a_link_is_a_fault(tmp_path: Path) -> None:
    truth, elsewhere = tmp_path / "truth", tmp_path / "elsewhere"
    truth.mkdir()
    elsewhere.mkdir()
    (elsewhere / "1.txt").write_text("[/EN#1/people A man]")
    (truth / "split.txt").write_text("1")
    for name in ("Sentences", "Annotations"):
        (truth / name).symlink_to(elsewhere)
    told = faults(truth, tmp_path / "t.podium", "flickr30k-grounding")
    assert ("truth_unsafe_path", "Sentences/") in told


def test_a_named_pipe_is_a_fault_and_does_not_block(tmp_path: Path) -> None:
    truth = folder(tmp_path, boxes_csv=None)
    os.mkfifo(truth / "boxes.csv")
    assert faults(truth, tmp_path / "t.podium") == [("truth_unsafe_path", "boxes.csv")]


def test_the_truth_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder(tmp_path))
    assert prepare(DETECTION, tmp_path / "link", tmp_path / "t.podium")["images"] == 3


def test_a_link_that_replaces_a_file_after_it_was_checked_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "file").symlink_to(tmp_path / "secret")
    looked = os.stat(tmp_path / "secret")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evaluator.files.regular.os.stat", lambda *path, **how: looked)
        with pytest.raises(OSError, match="symbolic links"):
            read_regular(tmp_path, "file")


def test_a_path_through_a_linked_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert read_regular(tmp_path, "real/file") == b"x"
    with pytest.raises(NotRegular, match="is a symbolic link"):
        read_regular(tmp_path, "link/file")
    assert read_regular(tmp_path, "real/nothing") is None
