"""Tests the order of masks with the same confidence and box."""

import numpy as np

from evaluator.tracks.detection.candidates import Detections
from evaluator.tracks.segmentation.scorer import ties_of
from tests.evaluator.kernels.test_masks import joined


def test_masks_of_the_same_group_and_box_are_ordered_by_their_compressed_form() -> None:
    """If two masks differ in their group or box, their order does not depend on their compressed forms."""
    rng = np.random.default_rng(3)
    texts = [bytes(text) for text in rng.integers(48, 80, (500, 2), np.uint8)]
    groups, boxes = rng.integers(0, 6, 500), rng.integers(0, 2, (500, 4)).astype(float)
    rows = np.arange(500)
    detections = Detections(groups, groups, np.ones(500), boxes, rows, rows)
    *coordinates, ranks = ties_of(detections, joined(texts, rows), groups)
    everywhere = np.unique(np.array(texts, object), return_inverse=True)[1]
    assert np.array_equal(np.lexsort((ranks, *coordinates, groups)), np.lexsort((everywhere, *coordinates, groups)))
    assert len(np.unique(ranks)) > 100
