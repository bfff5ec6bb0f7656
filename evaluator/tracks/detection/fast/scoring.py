"""Detections by the kernels: the same report as the readable way, to the last bit."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.kernels.detection.state import DetectionTruth
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.detection.fast.overfull import overfull_images
from evaluator.tracks.detection.fast.reader import DetectionReader, truth_of
from evaluator.tracks.detection.resampling import Entries
from evaluator.tracks.detection.summary import objects, summary
from evaluator.tracks.interface import Outcome, ReadableWay, Streaming
from evaluator.tracks.shared.buckets import HALVES, Curves
from evaluator.tracks.shared.fast import Heading, note, read_all, refuse_duplicates
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
    readers = read(submission, known, parameters, np.zeros(len(known.usage), bool))
    too_many = overfull_images([reader.state for reader in readers])
    if too_many.any():
        del readers  # and its memory
        readers = read(submission, known, parameters, too_many)
    submission.progress("matching", 0.0)
    join(readers)
    if parameters["require_all_images"] and not np.any([reader.state.named for reader in readers], axis=0).all():
        raise ReadableWay("missing images")
    submission.progress("scoring", 0.0)
    entries = gathered(readers, len(truth.texts["labels"])) if submission.keeps_images else None
    classes = 2 * len(truth.texts["labels"]) + 1  # with those of what counts for nothing
    curves = Curves.of([part for reader in readers for part in reader.entries()], classes)
    curves.sort(submission.threads)
    note(truth, readers, findings)
    splits = {name: fold(truth, curves, name, weight) for name in truth.splits}
    if entries is None:
        return Outcome(splits)
    return Outcome(splits, partial(entries.sample, truth, weight), partial(entries.curves, truth, weight))


def read(
    submission: Streaming, truth: DetectionTruth, parameters: Mapping[str, Any], overfull: NDArray[np.bool_]
) -> Sequence[DetectionReader]:
    """Read the file, one reader a thread; the predictions of overfull images are put aside.

    Raises
    ------
    ReadableWay
    """
    overfull.flags.writeable = False

    def readers(heading: Heading) -> Sequence[DetectionReader]:
        threads = range(submission.threads)
        return [DetectionReader(truth, heading, parameters, submission.keeps_images, overfull) for _ in threads]

    return read_all(submission, DETECTION, readers)


def gathered(readers: Sequence[DetectionReader], labels: int) -> Entries:
    """Return the entries of all threads that count, with their images."""
    segments = [part for reader in readers for part in reader.entries()]
    confidences, codes = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    images = np.concatenate([part for reader in readers for part in reader.entry_images()])
    entries = Entries(images, codes >> np.uint32(2), confidences, (codes & np.uint32(1) == 0).astype(float))
    counts = entries.labels < labels
    return entries if counts.all() else entries[counts]


def join(readers: Sequence[DetectionReader]) -> None:
    """Bring together what the threads know of the same images."""
    first, *others = readers
    if first.heading.kaggle:
        refuse_duplicates(readers)
    else:
        for other in others:
            first.join(other)
    first.take_collected(readers)
    if not first.heading.kaggle:
        first.settle()


def fold(truth: Truth, curves: Curves, split: str, weight: float) -> SplitReport:
    """Sum up one split: AP of each class, and their mean."""
    truths = objects(truth, split, weight)
    halves = list(HALVES[split])
    scored = np.diff(curves.ends).reshape(-1, 2)[: len(truths), halves].sum(axis=1)
    false = curves.false.reshape(-1, 2)[: len(truths), halves].sum(axis=1)
    values = np.fromiter(curves.values(truths, halves), np.float64, len(truths))
    return summary(truth, split, values, truths, scored=scored, true=(scored - false).astype(float), false=false)
