"""Kernels do not check array bounds, but never write past the end of the arrays for precision-recall curve entries."""

from itertools import combinations, product
from pathlib import Path

import pytest

from evaluator.kernels import CROWD
from evaluator.kernels.reading import ENTRIES
from evaluator.request import Resources
from evaluator.tracks.detection.fast.reader import DetectionReader
from evaluator.tracks.shared.fast import Bytes
from tests.evaluator.kernels import cases

TRACK = "openimages-detection"
HEADS = {"kaggle": "ImageId,PredictionString", "long": "ImageID,LabelName,Score,XMin,YMin,XMax,YMax"}

# The group-of boxes of the ground truth, as XMin, XMax, YMin and YMax.
GROUPS = [(*x, *y) for x, y in product(combinations(range(10), 2), repeat=2)]
GROUPS.sort(key=lambda group: (group[1] - group[0]) * (group[3] - group[2]))


def written(shape: str) -> str:
    """Return a submission with ``CROWD`` predictions that match nothing, then one prediction for each group-of box."""
    found = [f"a 1 {x_min} {y_min} {x_max} {y_max}" for x_min, x_max, y_min, y_max in GROUPS]
    predictions = ["b 1 0 0 1 1"] * CROWD + found
    if shape == "kaggle":
        return f"{HEADS[shape]}\na,{' '.join(predictions)}\n"
    return "\n".join([HEADS[shape], *(f"a,{text.replace(' ', ',')}" for text in predictions)]) + "\n"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_absorbed_detections_and_their_groups_fit_into_the_arrays(
    shape: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each group-of box (around several objects) absorbs the prediction that is equal to it.

    The boxes are sorted by area, so no larger box absorbs this prediction. Therefore, all group-of boxes become entries
    of the precision-recall curve, in addition to the predictions.
    """
    truth, submission = tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir()
    boxes = [f"a,a,{','.join(map(str, group))},1" for group in GROUPS]
    (truth / "boxes.csv").write_text("\n".join(["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *boxes]))
    (truth / "image_labels.csv").write_text("ImageID,LabelName,Confidence\n")
    submission.write_text(written(shape))
    rooms: list[tuple[int, int]] = []
    make_room, read = DetectionReader._make_room, DetectionReader.read

    def asked(reader: DetectionReader, entries: int) -> None:
        make_room(reader, entries)
        rooms.append((entries, int(reader.state.counts[ENTRIES])))

    def checked(reader: DetectionReader, data: Bytes, stop: int, position: int) -> None:
        read(reader, data, stop, position)
        room, before = rooms[-1]
        assert reader.state.counts[ENTRIES] - before <= room

    monkeypatch.setattr(DetectionReader, "_make_room", asked)
    monkeypatch.setattr(DetectionReader, "read", checked)
    way, fast, reference = cases.both(TRACK, truth, submission, resources=Resources(threads=threads))
    assert (way, fast) == ("fast path", reference)
