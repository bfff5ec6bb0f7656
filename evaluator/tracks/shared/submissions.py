"""Provides functions for reading and writing submissions that several tracks share."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Limits, Track
from evaluator.files.notices import notice_oddities, notice_unknown_labels
from evaluator.files.submission import SubmissionTable, Vocabulary
from evaluator.metrics.boxes import areas, intersections, is_inverted
from evaluator.problems import Findings, Problem, Stop
from evaluator.tracks.shared.label_truth import LabelTruth
from evaluator.truth import Truth


def vocabularies_of(truth: LabelTruth | None) -> dict[str, Vocabulary]:
    """Return the vocabularies of a submission: the known image ids and labels, each with its integer code.

    The dict is empty if only the format of a file is checked, without a ground truth.
    """
    if truth is None:
        return {}
    return {
        "image": Vocabulary(truth.image_codes, closed=truth.images_listed),
        "label": vocabulary_of(truth.label_codes, closed=truth.labels_listed, by_name=truth.labels_by_name),
    }


def vocabulary_of(
    index: Mapping[str, int], *, closed: bool, by_name: Mapping[str, str] = MappingProxyType({})
) -> Vocabulary:
    """Return the vocabulary of labels or relations. ``by_name`` maps lower-case display names to labels or relations.

    If ``closed`` is false, participants do not know all labels, and an unknown label in a submission is not a defect.
    The vocabulary then omits labels that are longer than the limit for submissions. Such a label is always reported as
    too long, so the result does not reveal whether it is in the ground truth.
    """
    if not closed:
        index = {text: code for text, code in index.items() if len(text) <= Limits().text_characters}
    return Vocabulary(index, closed, by_name)


def require_all_images(truth: Truth, table: SubmissionTable, findings: Findings) -> None:
    """Record a defect for each image that is missing from the submission, up to the maximum number of defects."""
    missing = (image for code, image in enumerate(truth.images) if code not in table.named)
    with suppress(Stop):
        for image in missing:
            message = f"image {image} has no row; every image of the test set must have one"
            findings.add(Problem("missing_image", message, image=image))


def notice_predictions(
    findings: Findings,
    truth: LabelTruth | None,
    confidences: NDArray[np.float64],
    boxes: list[NDArray[np.float64]],
    labels: Sequence[NDArray[np.int64]],
) -> None:
    """Add notices about predictions that are scored but probably not intended.

    Parameters
    ----------
    confidences : float64 array of shape (N,)
    boxes : list of float64 arrays of shape (N, 4)
    labels : sequence of int64 arrays of shape (N,)
        The label codes of the predictions. A prediction of a relationship, for example, has several labels.
    """
    inverted, outside = np.zeros(len(confidences), bool), np.zeros(len(confidences), bool)
    for coordinates in boxes:
        inverted |= is_inverted(coordinates)
        outside |= ((coordinates < 0) | (coordinates > 1)).any(axis=1)
    notice_oddities(
        findings,
        len(confidences),
        inverted=int(inverted.sum()),
        outside=int(outside.sum()),
        beyond=int(((confidences < 0) | (confidences > 1)).sum()),
    )
    if truth is None:
        return
    known, listed = truth.public_labels
    unknown = np.any([(codes < 0) | (codes >= known) for codes in labels], axis=0)
    notice_unknown_labels(findings, int(unknown.sum()), listed=listed)


def can_match(boxes: NDArray[np.float64], iou_threshold: float) -> NDArray[np.bool_]:
    """Return whether each box could match an object inside the image, shape (N,).

    An inverted box matches nothing. The IoU of any other box is at most the fraction of the box that is inside the
    image. To allow for rounding errors, the result is false only if this fraction is below half of the threshold.

    >>> can_match(np.array([[0.0, 0.5, 0.0, 0.5], [0.0, 640.0, 0.0, 480.0], [0.5, 0.1, 0.0, 0.5]]), 0.5)
    array([ True, False, False])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        inside = intersections(boxes, np.array([[0.0, 1.0, 0.0, 1.0]]))
        return ~is_inverted(boxes) & (2 * inside >= iou_threshold * areas(boxes))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return rows as the content of a CSV file. If ``header`` is empty, the file has no header line.

    >>> csv_text(("a", "b"), [(1, "x,y")])
    'a,b\n1,"x,y"\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header] if header else [])
    writer.writerows(rows)
    return text.getvalue()


def empty_strings(track: Track, truth: Truth) -> str:
    """Return the content of a CSV file that has a row with an empty prediction string for every image."""
    return csv_text(track.form.kaggle_header, ((image, "") for image in truth.images))
