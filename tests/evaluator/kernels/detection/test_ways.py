"""The format of a file determines which implementation scores it, but both produce the same results."""

from pathlib import Path

import pytest

from evaluator.request import Resources
from tests.evaluator.kernels import cases

TRACK = "openimages-detection"
TRUTH = {
    "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,cat,0,0.5,0,0.5,0\nb,cat,0,1,0,1,1\n",
    "image_labels.csv": "ImageID,LabelName,Confidence\na,cat,1\nb,cat,1\n",
}
CAT = "cat 0.5 0 0 0.5 0.5"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    for name, text in TRUTH.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("rows", "way"),
    [
        ("", "fast path"),
        ("a,", "fast path"),
        (f"a,{CAT}", "fast path"),
        (f"a,{CAT}\r\n", "fast path"),
        (f"a,{CAT}\n\n \n", "fast path"),
        (f"z,{CAT}", "fast path"),
        (f"z,{CAT}\nz,{CAT}", "rejected"),
        (f"a,{CAT}\na,{CAT}", "rejected"),
        (f"a,{CAT} dog 0.5 0 0 1 1", "fast path"),
        (f'"a",{CAT}', "reference implementation: quotes, blank lines or other special syntax"),
        (f"a,{CAT}\rb,{CAT}", "reference implementation: quotes, blank lines or other special syntax"),
        ("a,cat -0.5 0 0 0.5 0.5", "fast path"),
        ("a,cat -10 0 0 0.5 0.5 cat -9.99 0 0 0.5 0.5", "fast path"),
        (f"a,{' '.join([CAT] * 10_000)}", "fast path"),
        (f"a,{' '.join([CAT] * 10_001)}", "fast path"),
        (f"a,{' '.join([CAT] * 100_000)}", "fast path"),
        (f"a,{' '.join([CAT.replace('cat', 'dog')] * 100_000)}", "fast path"),
    ],
)
def test_how_a_file_is_scored_depends_on_its_format(small: Path, tmp_path: Path, rows: str, way: str) -> None:
    submission = tmp_path / "submission.csv"
    submission.write_text(f"ImageId,PredictionString\n{rows}")
    taken, fast, reference = cases.both(TRACK, small, submission)
    assert taken == way
    assert fast == reference


def test_a_line_longer_than_many_blocks_is_scored_by_the_fast_path(small: Path, tmp_path: Path) -> None:
    submission = tmp_path / "submission.csv"
    long = " ".join([f"dog 0.5 0 0 0.5 0.{number}" for number in range(1, 300_000)])
    submission.write_text(f"ImageId,PredictionString\nb,{CAT}\na,{CAT} {long} {CAT}\nz,{CAT}\n")
    assert submission.stat().st_size > 5 << 20
    taken, fast, reference = cases.both(TRACK, small, submission, resources=Resources(threads=2))
    assert taken == "fast path"
    assert fast == reference
