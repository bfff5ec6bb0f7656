"""Image-level classification of Open Images: how well confidences sort the images where a class was verified."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import CLASSIFICATION
from evaluator.files.folder import TruthFolder
from evaluator.files.source import Source
from evaluator.files.submission import Table, read_table
from evaluator.metrics.average_precision import average_precisions, mean_defined, stepwise_average_precision
from evaluator.metrics.bootstrap import Numbers, Weights, means_defined
from evaluator.metrics.resampling import HIT, MISS, Groups, Places, Steps
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.tracks.checking import checked, distinct_keys
from evaluator.tracks.interface import (
    Contest,
    Engine,
    Outcome,
    Progress,
    blank_strings,
    contains,
    csv_text,
    notice_boxes,
    on_every_split,
    shown_labels,
    vocabularies_of,
)
from evaluator.tracks.shared.labels import Labelling
from evaluator.tracks.shared.usage import usage_of
from evaluator.truth import Truth

UNSAID = 0.0  # what a class that was verified and not predicted is taken for


@dataclass(frozen=True, slots=True)
class Entries:
    """Every verified class of every image; arrays of shape (N,)."""

    images: NDArray[np.int64]
    labels: NDArray[np.int64]
    confidences: NDArray[np.float64]
    present: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ClassificationSample:
    """One split: the images that each class is present in, and its curve."""

    present: Groups
    curves: Steps

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return the mAP of each replicate."""
        truths = engine.sums(weights, self.present)
        return {"mAP": means_defined(engine.average_precisions(weights, self.curves, truths, 1.0))}


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth: ``verified``, sorted keys (image × number of labels + label); which are ``present``.

    What is verified both ways, as an ancestor may be, is present.

    Raises
    ------
    InvalidTruth
    """
    tables = {"image_labels.csv": folder.table("image_labels.csv")}
    labelling = Labelling.of(folder, tables, expand=True)
    usage = usage_of(folder, labelling.images)
    folder.faults.check()
    count = len(labelling.labels)
    there, absent = (distinct_keys(*labelling.told(present), count) for present in (True, False))
    verified = np.union1d(there, absent)
    arrays: dict[str, NDArray[Any]] = {
        "verified": verified,
        "present": contains(there, verified),
        **labelling.listed_arrays,
        "usage": usage,
    }
    _warn_of_sure_classes(folder, there, absent, count)
    flags = labelling.flags(folder)
    return checked(folder.faults, Truth(folder.track.name, folder.sha256, {}, flags, labelling.texts, arrays))


def _warn_of_sure_classes(folder: TruthFolder, there: NDArray[np.int64], absent: NDArray[np.int64], count: int) -> None:
    """Warn where classes are verified as present only: every ranking of those images is right."""
    count = max(count, 1)
    sure = np.setdiff1d(there % count, np.setdiff1d(absent, there) % count)
    if len(sure):
        message = f"{len(sure)} classes are nowhere verified as absent: their AP is 1 for every submission"
        folder.faults.warn("truth_only_present", "image_labels.csv", message)


def read(source: Source, truth: Truth | None, parameters: Mapping[str, Any]) -> Table:
    """Read a submission, and notice what was hardly meant."""
    table = read_table(source, CLASSIFICATION.form, vocabularies_of(truth))
    if not source.findings.total:
        notice_boxes(source.findings, truth, table.numbers("Score")[:, 0], [], [table.codes("LabelName")])
    return table


def evaluate(truth: Truth, table: Table, parameters: Mapping[str, Any], progress: Progress) -> Outcome:
    """Score the confidences on every split."""
    progress("scoring", 0.0)
    entries = verified_entries(truth, table)
    splits = on_every_split(truth, lambda split: fold(truth, entries, split))
    return Outcome(splits, partial(sample, truth, entries))


def verified_entries(truth: Truth, table: Table) -> Entries:
    """Return what was said of each verified class; of several confidences the highest counts."""
    verified, labels = truth.arrays["verified"], len(truth.texts["labels"])
    known = table.codes("LabelName") >= 0
    keys = (table.codes("image") * labels + table.codes("LabelName"))[known]
    kept = contains(verified, keys)
    highest = np.full(len(verified), -np.inf)
    np.maximum.at(highest, np.searchsorted(verified, keys[kept]), table.numbers("Score")[known][kept, 0])
    highest[np.isneginf(highest)] = UNSAID
    return Entries(*np.divmod(verified, max(labels, 1)), highest, truth.arrays["present"])


def fold(truth: Truth, entries: Entries, split: str) -> SplitReport:
    """Sum up one split: AP of each class, and their mean over the classes that are present somewhere."""
    chosen = truth.splits[split][entries.images]
    labels, present = entries.labels[chosen], entries.present[chosen].astype(np.float64)
    count = len(truth.texts["labels"])
    truths = np.bincount(labels, present, count).astype(np.float64)
    images = np.bincount(labels, minlength=count)
    confidences = entries.confidences[chosen]
    values = average_precisions(labels, confidences, present, truths, stepwise_average_precision)
    rows: list[ClassRow] = [
        {
            "label": truth.texts["labels"][label],
            "name": truth.texts["names"][label],
            "ap": finite(values[label]),
            "truths": int(truths[label]),
            "images": int(images[label]),
        }
        for label in shown_labels(truth, split)
    ]
    return SplitReport(CLASSIFICATION.headline, {"mAP": finite(mean_defined(values))}, rows)


def sample(truth: Truth, entries: Entries, places: Places) -> ClassificationSample:
    """Return the sample of one split."""
    rows, count = places[entries.images], len(truth.texts["labels"])
    kinds = np.where(entries.present, HIT, MISS).astype(np.uint8)
    return ClassificationSample(
        Groups.of(entries.labels[entries.present], rows[entries.present], count),
        Steps.of(entries.labels, entries.confidences, kinds, rows, count, envelope=False),
    )


def ceiling(truth: Truth, parameters: Mapping[str, Any]) -> str:
    """Write every class that is present as a sure one."""
    images, labels = truth.texts["images"], truth.texts["labels"]
    keys = truth.arrays["verified"][truth.arrays["present"]].tolist()
    rows = ((images[key // len(labels)], labels[key % len(labels)], 1) for key in keys)
    return csv_text(CLASSIFICATION.form.long_header, rows)


CONTEST = Contest(
    CLASSIFICATION,
    compiler=__name__,
    read=read,
    evaluate=evaluate,
    blank=blank_strings(CLASSIFICATION),
    ceiling=ceiling,
)
