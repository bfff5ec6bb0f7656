"""Creates the submissions that the gate uses to test a ground truth before its phase opens.

Some files have a known defect. Another file contains half of the correct predictions.
"""

import csv
import json
from pathlib import Path
from typing import Any

from evaluator.catalog import Form


def broken_files(form: Form) -> list[tuple[bytes, str]]:
    """Return the contents of broken files in the format of a track, each with the code of its defect."""
    if form.kind == "json":
        return [(form.example[: len(form.example) // 2].encode(), "bad_json"), (b"PK\x03\x04", "bad_json")]
    if form.kind == "rows":
        return [(form.example.split(",")[0].encode() + b",1\n", "bad_width"), (b"PK\x03\x04", "not_csv")]
    header = ",".join(form.long_header)
    return [(f"Wrong{header}\n{form.example}\n".encode(), "bad_header"), (b"PK\x03\x04", "not_csv")]


def write_half(form: Form, best: Path, template: Path, out: Path) -> None:
    """Write a copy of the best possible submission from which half of the predictions (rounded up) are removed.

    If the format requires a row or key for each image, the removed predictions are replaced by those in the template
    submission, which are empty.
    """
    if form.kind == "json":
        whole, empty = (json.loads(path.read_text(encoding="utf-8")) for path in (best, template))
        out.write_text(json.dumps(_half(whole, empty)), encoding="utf-8")
        return
    headers = 1 if form.kind == "table" else 0
    with best.open(encoding="utf-8", newline="") as source, out.open("w", encoding="utf-8", newline="") as target:
        blank = _rows_by_image(template) if form.one_each else {}
        writer = csv.writer(target, lineterminator="\n")
        for number, row in enumerate(csv.reader(source), start=-headers):
            if number < 0 or number % 2:
                writer.writerow(row)
            elif form.one_each:
                writer.writerow(blank[row[0]])


def _rows_by_image(template: Path) -> dict[str, list[str]]:
    with template.open(encoding="utf-8", newline="") as source:
        return {row[0]: row for row in csv.reader(source)}


def _half(whole: Any, empty: Any) -> Any:
    """Return a copy of ``whole`` in which every second element is replaced by the one in ``empty``."""
    if isinstance(whole, list):
        return [both[number % 2] for number, both in enumerate(zip(empty, whole, strict=True))]
    if all(isinstance(value, dict) for value in whole.values()):
        return {key: _half(value, empty[key]) for key, value in whole.items()}
    return {key: (empty, whole)[number % 2][key] for number, key in enumerate(whole)}
