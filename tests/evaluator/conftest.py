"""A ground truth that is small enough to be scored by hand, and a submission in the layouts ``long`` and ``kaggle``."""

from dataclasses import dataclass
from pathlib import Path

import pytest

TRUTH = {
    "boxes.csv": """\
ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf
street,/m/01yrx,0.2,0.6,0.2,0.6,0
street,/m/0bt9lr,0.6,0.9,0.6,0.9,0
kitchen,/m/01yrx,0.1,0.5,0.3,0.7,0
kitchen,/m/01yrx,0.0,0.8,0.8,1.0,1
garden,/m/0bt9lr,0.4,0.6,0.4,0.6,0
""",
    "image_labels.csv": """\
ImageID,LabelName,Confidence
street,/m/01yrx,1
street,/m/0bt9lr,1
street,/m/0k4j,0
kitchen,/m/01yrx,1
garden,/m/0bt9lr,1
garden,/m/01yrx,0
""",
    "hierarchy.json": """\
{"LabelName": "/m/0bl9f", "Subcategory":
 [{"LabelName": "/m/01yrx"}, {"LabelName": "/m/0bt9lr"}, {"LabelName": "/m/0k4j"}]}
""",
    "classes.csv": "/m/01yrx,Cat\n/m/0bt9lr,Dog\n/m/0k4j,Car\n",
}
# The predictions of cats, by descending confidence, are: two hits, a duplicate, two predictions inside the group-of
# box, and a false positive in an image where cats are verified as absent. The precisions are 1, 1, 2/3, 3/4 and 3/5.
# The predictions of dogs are a false positive, then a hit. Cars are verified as absent. In the image "kitchen", dogs
# are verified neither as present nor as absent. The image "attic" is not in the ground truth.
LONG = """\
ImageID,LabelName,Score,XMin,XMax,YMin,YMax
street,/m/01yrx,0.9,0.2,0.6,0.2,0.6
street,/m/01yrx,0.8,0.22,0.6,0.2,0.6
street,/m/0bt9lr,0.7,0.0,0.2,0.0,0.2
street,/m/0k4j,0.95,0.1,0.3,0.1,0.3
kitchen,/m/01yrx,0.85,0.1,0.5,0.35,0.75
kitchen,/m/01yrx,0.6,0.1,0.2,0.82,0.95
kitchen,/m/01yrx,0.5,0.3,0.5,0.82,0.95
kitchen,/m/0bt9lr,0.99,0.1,0.2,0.1,0.2
garden,/m/0bt9lr,0.4,0.4,0.6,0.4,0.62
garden,/m/01yrx,0.3,0.5,0.6,0.5,0.6
attic,/m/01yrx,0.99,0.1,0.2,0.1,0.2
"""


@dataclass(frozen=True, slots=True)
class Tiny:
    track: str
    truth: Path
    long: Path
    kaggle: Path


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    truth = tmp_path / "truth"
    truth.mkdir()
    for name, text in TRUTH.items():
        (truth / name).write_text(text)
    long, kaggle = tmp_path / "long.csv", tmp_path / "kaggle.csv"
    long.write_text(LONG)
    kaggle.write_text("ImageId,PredictionString\n" + "".join(strings().values()))
    return Tiny("openimages-detection", truth, long, kaggle)


def strings() -> dict[str, str]:
    """Return the lines of a submission with the ``kaggle`` layout, keyed by image."""
    lines: dict[str, str] = {}
    for row in LONG.splitlines()[1:]:
        image, label, score, x_min, x_max, y_min, y_max = row.split(",")
        before = lines.get(image, f"{image},\n").removesuffix("\n").removesuffix(" ")
        gap = "" if before.endswith(",") else " "
        lines[image] = f"{before}{gap}{label} {score} {x_min} {y_min} {x_max} {y_max}\n"
    return lines
