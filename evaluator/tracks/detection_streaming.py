"""Detections by the kernels: the same report as the readable way, to the last bit."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from evaluator.catalog import DETECTION
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.contest import Outcome, ReadableWay, Streaming
from evaluator.tracks.curves import HALVES, Curves
from evaluator.tracks.detection_reader import DetectionReader, truth_of
from evaluator.tracks.detection_report import objects, summary
from evaluator.tracks.detection_sample import Entries
from evaluator.tracks.streaming import note, read_all, refuse_duplicates
from evaluator.truth import Truth


def stream(truth: Truth, submission: Streaming, parameters: Mapping[str, Any], findings: Findings) -> Outcome:
    """Score a submission on every split while it is read.

    Raises
    ------
    ReadableWay
    """
    weight = parameters["group_of_weight"]
    if parameters["expand_predictions"] or weight not in (0.0, 1.0):
        raise ReadableWay("parameters that change single predictions or weights")
    if parameters["protocol"] != "tfod":
        raise ReadableWay("another protocol")
    known = truth_of(truth)
    readers: Sequence[DetectionReader] = read_all(
        submission,
        DETECTION,
        lambda heading: [
            DetectionReader(known, heading, parameters, submission.keeps_images) for _ in range(submission.threads)
        ],
    )
    submission.progress("matching", 0.0)
    join(readers)
    if parameters["require_all_images"] and not np.any([reader.state.named for reader in readers], axis=0).all():
        raise ReadableWay("missing images")
    submission.progress("scoring", 0.0)
    entries = gathered(readers) if submission.keeps_images else None
    curves = Curves.of([part for reader in readers for part in reader.entries()], len(truth.texts["labels"]))
    curves.sort(submission.threads)
    note(truth, readers, findings)
    splits = {name: fold(truth, curves, name, weight) for name in truth.splits}
    if entries is None:
        return Outcome(splits)
    return Outcome(splits, partial(entries.sample, truth, weight), partial(entries.curves, truth, weight))


def gathered(readers: Sequence[DetectionReader]) -> Entries:
    """Return the entries of all threads with their images."""
    segments = [part for reader in readers for part in reader.entries()]
    confidences, codes = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    images = np.concatenate([part for reader in readers for part in reader.entry_images()])
    return Entries(images, codes >> np.uint32(2), confidences, (codes & np.uint32(1) == 0).astype(float))


def join(readers: Sequence[DetectionReader]) -> None:
    """Bring together what the threads know of the same images."""
    first, *others = readers
    if not first.heading.kaggle:
        for other in others:
            first.join(other)
        first.settle()
        return
    refuse_duplicates(readers)


def fold(truth: Truth, curves: Curves, split: str, weight: float) -> SplitReport:
    """Sum up one split: AP of each class, and their mean."""
    truths = objects(truth, split, weight)
    halves = list(HALVES[split])
    scored = np.diff(curves.ends).reshape(-1, 2)[:, halves].sum(axis=1)
    false = curves.false.reshape(-1, 2)[:, halves].sum(axis=1)
    values = np.fromiter(curves.values(truths, halves), np.float64, curves.labels)
    return summary(truth, values, truths, scored=scored, true=(scored - false).astype(float), false=false)
