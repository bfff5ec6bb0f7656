"""A prediction that hits no object does the same work as one that hits an object. Otherwise, CPU times would differ."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import scoring
from evaluator.kernels.reading import UNCLAIMED
from evaluator.kernels.text.csv_blocks import BATCH_ROWS
from evaluator.request import ScoringRequest
from evaluator.tracks.detection.fast import scoring as detection
from evaluator.tracks.detection.fast.reader import DetectionReader
from evaluator.tracks.relationships.fast import scoring as relationships
from tests.evaluator.kernels import private_facts
from tests.evaluator.kernels.test_equal_work import HEADERS

ROWS = 1_000
PAIR = "one,cat,dog,on,0.{},{},0.5,1,0,1"
MISS, HIT = "0,0.1,0,0.1", "0,0.5,0,1"
ReadersOf = Callable[..., Any]


@pytest.fixture
def readers_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReadersOf:
    """Return a function that scores rows with kernels and returns the readers with their final state."""
    scoring.load_kernels()

    def readers_of(module: Any, track: str, truth: Path, rows: list[str], header: str) -> Any:
        found, read_file = [], module.read_file

        def kept(*values: Any, **options: Any) -> Any:
            found.extend(readers := read_file(*values, **options))
            return readers

        monkeypatch.setattr(module, "read_file", kept)
        (submission := tmp_path / "submission.csv").write_text("\n".join([header, *rows]) + "\n")
        assert scoring.score(ScoringRequest(track, truth, submission)).way.startswith("fast path")
        monkeypatch.setattr(module, "read_file", read_file)
        return found

    return readers_of


@pytest.mark.parametrize("fact", [None, "one triplet fewer", "a label no longer verified", "an ignored image"])
def test_a_pair_that_hits_nothing_claims_an_additional_candidate(
    fact: str | None, readers_of: ReadersOf, tmp_path: Path
) -> None:
    track = "openimages-relationships"
    change = private_facts.FACTS[track][fact] if fact else None
    truth = private_facts.written(track, "relations", tmp_path / "truth", change)
    rows = [PAIR.format(1 + place % 9, HIT if place % 2 else MISS) for place in range(ROWS)]
    (reader,) = readers_of(relationships, track, truth, rows, HEADERS[track])
    no_triplet, no_phrase = reader.state.best_candidates[-2:]
    assert no_triplet[0] == 0.9
    assert no_phrase[0] == (0.9 if fact == "one triplet fewer" else UNCLAIMED)


@pytest.mark.parametrize("layout", ["strings", "long"])
def test_a_detection_that_hits_nothing_loses_an_additional_box(
    layout: str, readers_of: ReadersOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DetectionReader, "forget_entries", lambda _: None)
    track = "openimages-detection"
    truth = private_facts.written(track, "open", tmp_path / "truth")
    rows = [f"three,dog,0.{1 + place % 9},{MISS if place % 2 else '0,0.5,0,0.5'}" for place in range(ROWS)]
    header = HEADERS[track]
    if layout == "strings":
        # A prediction string has XMin, YMin, XMax, YMax. These boxes are squares at the origin.
        cells = [row.split(",")[1:] for row in rows]
        rows = ["three," + " ".join(f"{label} {score} 0 0 {x} {y}" for label, score, _, x, _, y in cells)]
        header = "ImageId,PredictionString"
    (reader,) = readers_of(detection, track, truth, rows, header)
    boxes = reader.state.best_confidences
    assert np.isinf(boxes[-BATCH_ROWS:]).all()
    assert (boxes[:-BATCH_ROWS] == UNCLAIMED).all()
    assert sum(len(confidences) for confidences, _ in reader.entries()) == ROWS
