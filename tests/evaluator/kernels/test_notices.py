"""Both implementations say why no prediction of a file can score."""

from pathlib import Path

import pytest

from evaluator import scoring
from evaluator.report import ReferenceNeeded
from evaluator.request import ScoringRequest
from tests.evaluator.kernels import private_facts
from tests.evaluator.kernels.test_equal_work import HEADERS

ROWS = {
    "openimages-detection": "{},cat,0.5,0,1,0,1",
    "openimages-relationships": "{},cat,dog,on,0.5,0,1,0,1,0,1,0,1",
    "openimages-classification": "{},cat,0.5",
}


@pytest.mark.parametrize("by", ["fast path", "reference"])
@pytest.mark.parametrize("track", ROWS)
def test_a_file_for_unknown_images_is_not_called_empty(
    track: str, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scoring.load_kernels()
    if by == "reference":
        monkeypatch.setattr(scoring, "score_by_fast_path", lambda *_: ReferenceNeeded.SMALL_FILE)
    truth = private_facts.written(track, "open", tmp_path / "truth")
    for name in ("images.csv", "usage.csv"):
        (truth / name).unlink()
    texts = {}
    for name, rows in {"unknown": [ROWS[track].format(f"{number}.jpg") for number in range(3)], "empty": []}.items():
        (submission := tmp_path / f"{name}.csv").write_text("\n".join([HEADERS[track], *rows]) + "\n")
        report = scoring.score(ScoringRequest(track, truth, submission))
        assert report.way.startswith(by)
        texts[name] = [notice.message for notice in report.notices if notice.code != "unknown_image"]
    assert [text.partition(",")[0].partition(" (")[0] for text in (*texts["unknown"], *texts["empty"])] == [
        "the file has predictions only for images that are not in the ground truth",
        "the file has no predictions",
    ]
