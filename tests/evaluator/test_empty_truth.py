"""A truth without a single annotation gives no number, and no crash, in every track."""

from pathlib import Path

import pytest

from evaluator.catalog import TRACKS
from evaluator.problems import InvalidSubmission
from evaluator.scoring import score
from evaluator.synthesis import synthesize

NOTHING = {"answers.json": "{}", "gallery.json": '{"images": [], "captions": []}', "phrases.jsonl": ""}
CLOSED = {("flickr30k-retrieval", True), ("flickr30k-retrieval", False), ("objectnet", False)}
KEPT = ("classes.csv", "relations.csv", "hierarchy.json")


def emptied(folder: Path, *, lists_images: bool) -> None:
    """Leave only the headers, the class list, and if wanted the image list."""
    for path in folder.iterdir():
        if path.name == "images.csv" and not lists_images:
            path.unlink()
        elif path.name in NOTHING:
            path.write_text(NOTHING[path.name])
        elif path.name not in (*KEPT, "images.csv"):
            path.write_text(path.read_text().partition("\n")[0] + "\n")


@pytest.mark.parametrize("lists_images", [True, False])
@pytest.mark.parametrize("track", TRACKS)
def test_a_truth_without_annotations_leaves_every_metric_undefined(
    track: str, lists_images: bool, tmp_path: Path
) -> None:
    synthesize(track, tmp_path / "world", images=3, qualities=[0.5])
    emptied(tmp_path / "world" / "truth", lists_images=lists_images)
    for submission in sorted((tmp_path / "world" / "submissions").iterdir()):
        if (track, lists_images) in CLOSED:  # every prediction is then of an unknown image or query
            with pytest.raises(InvalidSubmission):
                score(track, tmp_path / "world" / "truth", submission)
            continue
        report = score(track, tmp_path / "world" / "truth", submission, bootstrap=5)
        assert set(report.splits["all"].metrics.values()) == {None}
