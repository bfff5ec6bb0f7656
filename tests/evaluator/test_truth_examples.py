"""The ground truth folders in the handbook are valid and include every file that a track declares."""

from pathlib import Path

import pytest

from evaluator.catalog import TRACKS
from evaluator.catalog.truth_examples import EXAMPLES
from evaluator.scoring import prepare

# Ground truth files without an example: a salt must be secret, and the other files are published annotations in
# external formats.
WITHOUT_EXAMPLE = {"salt.txt", "Sentences/", "Annotations/", "split.txt"}


@pytest.mark.parametrize("track", TRACKS)
def test_every_declared_file_has_an_example(track: str) -> None:
    declared = {file.name for file in TRACKS[track].truth_files}
    assert declared - WITHOUT_EXAMPLE == set(EXAMPLES[track])


@pytest.mark.parametrize("track", TRACKS)
def test_the_examples_of_a_track_are_a_truth_without_faults(track: str, tmp_path: Path) -> None:
    (tmp_path / "truth").mkdir()
    for name, text in EXAMPLES[track].items():
        (tmp_path / "truth" / name).write_text(text)
    made = prepare(track, tmp_path / "truth", tmp_path / "t.podium")
    assert set(made["splits"]) == {"all", "public", "private"}
