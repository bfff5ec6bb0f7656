"""Counts the predictions of each class, and the pairs of actual and predicted classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.report import ClassRow
from evaluator.tracks.detection.candidates import Detections
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.tracks.shared.label_truth import ObjectTruth

NONE = -1


def predicted(
    truth: ObjectTruth, matches: Matches, in_split: NDArray[np.bool_], group_weight: float
) -> NDArray[np.float64]:
    """Return the number of scored detections in each class, plus the group-of weight for each matched group."""
    labels = len(truth.labels)
    scored = matches.scored & in_split[matches.detections.images]
    detections = np.bincount(np.where(scored, matches.detections.labels, labels), minlength=labels)[:labels]
    images, classes = truth.images_and_labels(truth.group_keys)
    groups = np.bincount(classes[matches.found_groups & in_split[images]], minlength=labels)
    return np.asarray(detections + group_weight * groups)


def by_outcome(
    truth: ObjectTruth,
    known: Detections,
    matches: Matches,
    missed: NDArray[np.float64],
    in_split: NDArray[np.bool_],
) -> dict[str, NDArray[Any]]:
    """Return the numbers of detections and objects with each outcome, by class; see :attr:`Figures.by_outcome`.

    Parameters
    ----------
    truth : ObjectTruth
    known : Detections
        All detections whose label is in the ground truth.
    matches : Matches
        The matches of the detections whose label is verified in their image.
    missed : float64 array of shape (classes,)
        Number of missed objects.
    in_split : bool array of shape (images,)
    """
    labels, finds_group = len(truth.labels), matches.finds_group
    ignored = np.ones(len(known), bool)
    ignored[matches.detections.indices] = False
    ignored &= in_split[known.images]
    is_inside = in_split[matches.detections.images]

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(matches.detections.labels[chosen & is_inside], minlength=labels)

    return {
        "ignored": np.bincount(known.labels[ignored], minlength=labels),
        "group_found": count(finds_group),
        "absorbed": count(matches.absorbed & ~finds_group),
        "missed": missed,
    }


def confusion(truth: DetectionTruth, matches: Matches, in_split: NDArray[np.bool_]) -> list[ClassRow]:
    """Return the confusion matrix, one row of ``truth``, ``prediction`` and ``count`` for each pair of classes.

    A false positive that matches no object has no ``truth``. An object that was not matched has no ``prediction``.
    """
    labels = max(len(truth.labels), 1)
    box_images, box_labels = truth.images_and_labels(truth.object_keys)
    group_images, group_labels = truth.images_and_labels(truth.group_keys)
    is_found = np.zeros(len(box_labels) + 1, bool)
    # A detection without a matching object has the object index -1, which selects the extra last element of `is_found`.
    is_found[matches.objects] = True
    missed = ~is_found[:-1]
    images = np.concatenate([matches.detections.images, box_images[missed], group_images])
    actual = np.concatenate([np.append(box_labels, NONE)[matches.objects], box_labels[missed], group_labels])
    predicted = np.concatenate(
        [
            np.where(matches.scored, matches.detections.labels, labels),
            np.full(np.count_nonzero(missed), NONE),
            np.where(matches.found_groups, group_labels, NONE),
        ]
    )
    # Unscored detections and images outside the split are counted in an extra column of the confusion matrix, which is
    # dropped below. If they were removed here, the scoring time would reveal their number.
    predicted = np.where(in_split[images], predicted, labels)
    cells = np.bincount((actual + 1) * (labels + 2) + predicted + 1, minlength=(labels + 1) * (labels + 2))
    cells = cells.reshape(labels + 1, labels + 2)[:, :-1]
    positions = np.argwhere(cells)
    counts, codes = cells[tuple(positions.T)], positions - 1
    name = {NONE: None} | dict(enumerate(truth.labels))
    return [
        {"truth": name[actual_label], "prediction": name[predicted_label], "count": count}
        for (actual_label, predicted_label), count in zip(codes.tolist(), counts.tolist(), strict=True)
    ]
