"""Writes an Open Images ground truth and a submission as COCO JSON, for programs that read only this format.

COCO has neither image-level labels nor a hierarchy of classes, so both are left out. A group-of box becomes a crowd
annotation.
"""

import csv
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Cells = Mapping[str, str]


def write_coco(boxes: Path, submission: Path, folder: Path) -> tuple[Path, Path]:
    """Write the ground truth and the submission (one box per row) to a folder, and return both paths."""
    found, predicted = list(cells(boxes)), list(cells(submission))
    images, classes = (
        {name: number for number, name in enumerate(sorted({row[key] for row in (*found, *predicted)}), 1)}
        for key in ("ImageID", "LabelName")
    )

    def coded(row: Cells) -> dict[str, Any]:
        return {"image_id": images[row["ImageID"]], "category_id": classes[row["LabelName"]], "bbox": box(row)}

    truth = {
        "images": [{"id": number, "file_name": name} for name, number in images.items()],
        "categories": [{"id": number, "name": name} for name, number in classes.items()],
        "annotations": [
            {"id": number, **coded(row), "iscrowd": int(row["IsGroupOf"])} for number, row in enumerate(found, 1)
        ],
    }
    results = [{**coded(row), "score": float(row["Score"])} for row in predicted]
    paths = folder / "truth.json", folder / "predictions.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(content))
    return paths


def cells(file: Path) -> Iterator[Cells]:
    """Yield the rows of a CSV file, which may be compressed with gzip."""
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        yield from csv.DictReader(lines)


def box(row: Cells) -> list[float]:
    """Return the left and upper edge, the width and the height of a box, in fractions of the image size."""
    left, right, upper, lower = (float(row[name]) for name in ("XMin", "XMax", "YMin", "YMax"))
    return [left, upper, right - left, lower - upper]
