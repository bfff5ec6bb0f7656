"""What detections met, counted: precision, recall and F1 of each class, and which class was taken for which."""

import numpy as np
from numpy.typing import NDArray

from evaluator.report import ClassRow, SplitReport
from evaluator.tracks.detection.matches import NOT_REACHED, Matches
from evaluator.tracks.shared import report_tables
from evaluator.truth import Truth

NONE = -1


def with_rates(
    truth: Truth, matches: Matches, report: SplitReport, in_split: NDArray[np.bool_], weight: float
) -> SplitReport:
    """Return the report of a split with precision, recall and F1."""
    codes = [truth.label_codes[str(row["label"])] for row in report.classes]
    true, support = (np.array([row[name] for row in report.classes], float) for name in ("true_positives", "truths"))
    return report_tables.with_rates(report, true, _predicted(truth, matches, in_split, weight)[codes], support)


def _predicted(truth: Truth, matches: Matches, in_split: NDArray[np.bool_], weight: float) -> NDArray[np.float64]:
    """Return how many detections of each class count, a group that is found as one of its weight."""
    labels = len(truth.texts["labels"])
    single = ~matches.absorbed & in_split[matches.found.images]
    found = np.bincount(np.where(single, matches.found.labels, labels), minlength=labels)[:labels]
    images, classes = np.divmod(truth.arrays["group_keys"], max(labels, 1))
    grouped = (matches.reached > NOT_REACHED) & in_split[images]
    return np.asarray(found + weight * np.bincount(classes[grouped], minlength=labels))


def confusion(truth: Truth, matches: Matches, in_split: NDArray[np.bool_]) -> list[ClassRow]:
    """Return how often an object of one class was found as another: ``truth``, ``prediction``, ``count``.

    None stands where nothing was predicted, or nothing is there.
    """
    labels = max(len(truth.texts["labels"]), 1)
    box_images, box_labels = np.divmod(truth.arrays["box_keys"], labels)
    group_images, group_labels = np.divmod(truth.arrays["group_keys"], labels)
    taken, objects = np.zeros(len(box_labels) + 1, bool), matches.objects
    taken[objects] = True  # the last one is that of detections without an object
    missed = ~taken[:-1]
    images = np.concatenate([matches.found.images, box_images[missed], group_images])
    theirs = np.concatenate([np.append(box_labels, NONE)[objects], box_labels[missed], group_labels])
    said = [
        np.where(matches.absorbed, labels, matches.found.labels),
        np.full(np.count_nonzero(missed), NONE),
        np.where(matches.reached > NOT_REACHED, group_labels, NONE),
    ]
    ours = np.where(in_split[images], np.concatenate(said), labels)  # as long for what counts for nothing
    cells = np.bincount((theirs + 1) * (labels + 2) + ours + 1, minlength=(labels + 1) * (labels + 2))
    cells = cells.reshape(labels + 1, labels + 2)[:, :-1]
    kinds = np.argwhere(cells)
    counts, kinds = cells[tuple(kinds.T)], kinds - 1
    name = {NONE: None} | dict(enumerate(truth.texts["labels"]))
    return [
        {"truth": name[there], "prediction": name[said], "count": count}
        for (there, said), count in zip(kinds.tolist(), counts.tolist(), strict=True)
    ]
