"""A kernel accepts a prediction string only if blanks separate its tokens, whatever labels the ground truth has."""

from itertools import product
from pathlib import Path

import pytest

from evaluator.scoring import prepare
from tests.evaluator.kernels import cases

BOX = ["0.100000"] * 2 + ["0.500000"] * 2
TOKENS = {
    "openimages-detection": ["cat", "0.900000", *BOX],
    "openimages-relationships": ["0.900000", "cat", *BOX, "cat", *BOX, "on"],
    "openimages-classification": ["cat", "0.900000"],
}
TRUTHS = {
    "openimages-detection": {
        "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,cat,0.1,0.5,0.1,0.5,0\n",
        "image_labels.csv": "ImageID,LabelName,Confidence\na,cat,1\n",
    },
    "openimages-relationships": {
        "relationships.csv": "ImageID,LabelName1,LabelName2,RelationshipLabel,"
        "XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2\na,cat,cat,on,0.1,0.5,0.1,0.5,0.1,0.5,0.1,0.5\n",
        "image_labels.csv": "ImageID,LabelName,Confidence\na,cat,1\n",
    },
    "openimages-classification": {"image_labels.csv": "ImageID,LabelName,Confidence\na,cat,1\n"},
}
SEPARATORS = [" ", "  ", "\t", ",", "\n", "\r", "\x01", "\0", "\x0b"]


@pytest.mark.parametrize("label", ["cat", "cow"])
@pytest.mark.parametrize("track", TOKENS)
def test_any_separator_gives_the_result_of_the_reference_implementation(track: str, label: str, tmp_path: Path) -> None:
    folder, truth, submission = tmp_path / "truth", tmp_path / "truth.podium", tmp_path / "submission.csv"
    folder.mkdir()
    for name, content in TRUTHS[track].items():
        (folder / name).write_text(content)
    prepare(track, folder, truth)
    tokens = [label if token == "cat" else token for token in TOKENS[track]]
    for place, separator in product(range(len(tokens)), SEPARATORS):
        between = [" "] * len(tokens)
        between[place] = separator
        text = "".join(map("".join, zip(tokens, between, strict=True)))
        submission.write_bytes(f"ImageId,PredictionString\na,{text}{' '.join(tokens)}\n".encode())
        way, fast, reference = cases.both(track, truth, submission)
        assert fast == reference, (place, separator)
        if separator in (" ", "  ", "\t"):
            assert way == "fast path", (place, separator)
