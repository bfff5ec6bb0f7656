"""Functions that several tracks use to read and write submissions."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Limits, Track
from evaluator.files.notices import notice_oddities, notice_unknown_labels
from evaluator.files.submission import SubmissionTable, Vocabulary
from evaluator.problems import Findings, Problem, Stop
from evaluator.tracks.shared.label_truth import LabelTruth
from evaluator.truth import Truth


def vocabularies_of(truth: LabelTruth | None) -> dict[str, Vocabulary]:
    """Return the vocabularies of image ids and labels of a truth; empty without a truth."""
    if truth is None:
        return {}
    return {
        "image": Vocabulary(truth.image_codes, closed=truth.images_listed),
        "label": vocabulary_of(truth.label_codes, closed=truth.labels_listed),
    }


def vocabulary_of(index: Mapping[str, int], *, closed: bool) -> Vocabulary:
    """Return the vocabulary of some labels or relations.

    An open vocabulary leaves out texts that are longer than allowed. Such a text is then the same defect whether or not
    it is in the truth.
    """
    if not closed:
        index = {text: code for text, code in index.items() if len(text) <= Limits().text_characters}
    return Vocabulary(index, closed=closed)


def require_all_images(truth: Truth, table: SubmissionTable, findings: Findings) -> None:
    """Add a defect for each image that is missing from the submission, until the limit of defects is reached."""
    missing = (image for code, image in enumerate(truth.images) if code not in table.named)
    with suppress(Stop):
        for image in missing:
            message = f"image {image} has no row; every image of the test set must have one"
            findings.add(Problem("missing_image", message, image=image))


def notice_boxes(
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
    labels : codes of each prediction, one array of shape (N,) for each label that it has
    """
    if truth is None:
        return  # Without images there are no predictions: those of unknown images are not read.
    inverted, outside = np.zeros(len(confidences), bool), np.zeros(len(confidences), bool)
    for coordinates in boxes:
        inverted |= (coordinates[:, 0] >= coordinates[:, 1]) | (coordinates[:, 2] >= coordinates[:, 3])
        outside |= ((coordinates < 0) | (coordinates > 1)).any(axis=1)
    notice_oddities(
        findings,
        inverted=int(inverted.sum()),
        outside=int(outside.sum()),
        beyond=int(((confidences < 0) | (confidences > 1)).sum()),
    )
    known, listed = truth.public_labels
    unknown = np.any([(codes < 0) | (codes >= known) for codes in labels], axis=0)
    notice_unknown_labels(findings, int(unknown.sum()), listed=listed)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return the text of a CSV file, without a header line if ``header`` is empty.

    >>> csv_text(("a", "b"), [(1, "x,y")])
    'a,b\n1,"x,y"\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header] if header else [])
    writer.writerows(rows)
    return text.getvalue()


def empty_strings(track: Track, truth: Truth) -> str:
    """Return the text of a CSV file with an empty prediction string for every image."""
    return csv_text(track.form.kaggle_header, ((image, "") for image in truth.images))
