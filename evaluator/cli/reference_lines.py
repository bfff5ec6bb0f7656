"""Writes scores in the output format of TensorFlow's Object Detection API, for scripts that read this format."""

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

from evaluator.catalog import DETECTION, RELATIONSHIPS
from evaluator.cli.output import atomic_file
from evaluator.cli.usage import WrongUsage
from evaluator.report import ClassRow, Report, SplitReport

Lines = Iterator[tuple[str, Any]]


def _detection(split: SplitReport, at: str) -> Lines:
    prefix = "OpenImagesDetectionChallenge"
    yield f"{prefix}_Precision/mAP@{at}", split.metrics["mAP"]
    for row in split.classes:
        yield f"{prefix}_PerformanceByCategory/AP@{at}/{_label(row)}", row["ap"]


def _relationships(split: SplitReport, at: str) -> Lines:
    for kind, recalled in (("relationships", (50, 100)), ("phrases", ())):
        prefix = f"VRDMetric_{kind.capitalize()}"
        yield f"{prefix}_weightedAP@{at}", split.metrics[f"weighted_ap_{kind}"]
        yield f"{prefix}_mAP@{at}", split.metrics[f"mAP_{kind}"]
        for limit in recalled:
            yield f"{prefix}_Recall@{limit}@{at}", split.metrics[f"recall@{limit}"]
        for row in split.classes:
            yield f"{prefix}_AP@{at}/{_label(row)}", row[f"ap_{kind}"]


TOOLS: Mapping[str, Callable[[SplitReport, str], Lines]] = {
    DETECTION.name: _detection,
    RELATIONSHIPS.name: _relationships,
}


def check_reference_lines(track: str, parameters: Mapping[str, Any]) -> None:
    """Raise an exception unless an official tool of the Open Images challenge computes the metrics of the track.

    Some tracks have no official tool. The tools support only the default evaluation protocol.

    Raises
    ------
    WrongUsage
    """
    if track not in TOOLS:
        raise WrongUsage(f"--tf-csv: there is no official tool for {track}; supported: {', '.join(TOOLS)}")
    if parameters.get("protocol", "tfod") != "tfod":
        raise WrongUsage("--tf-csv writes the values of the official tool; remove --set protocol")


def write_reference_lines(report: Report, *, to: Path) -> None:
    """Write all scores on the split ``all`` to a CSV file without a header. Each row has a name and a value.

    Undefined scores are written as ``nan``.
    """
    lines = TOOLS[report.track](report.splits["all"], f"{report.parameters['iou_threshold']}IOU")
    with atomic_file(to) as file:
        csv.writer(file).writerows((name, "nan" if value is None else value) for name, value in lines)


def _label(row: ClassRow) -> str:
    """Return the label of a class in the Unicode normalization form that the official tools of Open Images use."""
    return normalize("NFKD", str(row["label"]))
