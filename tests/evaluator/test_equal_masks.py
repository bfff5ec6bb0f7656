"""Equal masks are decoded once, which changes neither the masks nor the defects."""

import numpy as np
import pytest

from evaluator.files.masks import MaskReader
from evaluator.metrics.masks import Masks
from tests.evaluator.test_segmentation_rules import LEFT, TOP, mask, packed

BAD, WHOLE = packed(b"!!"), packed(b"06")
NOT_RUN_LENGTHS = ("bad_mask", "these are not COCO's compressed run lengths")


def sides(count: int, side: int = 4) -> tuple[np.ndarray, np.ndarray]:
    return np.full(count, side), np.full(count, side)


def test_equal_masks_share_their_run_lengths() -> None:
    reader = MaskReader()
    masks, defects = reader.masks([mask(LEFT), mask(TOP), mask(LEFT)], *sides(3))
    assert not defects
    assert masks[0] == masks[2]
    left, top, again = Masks(reader.run_lengths.content(), masks["range"], masks["area"]).compressed()
    assert left == again
    assert left != top
    assert reader.run_lengths.size == len(left) + len(top)


def test_masks_of_images_with_different_sizes_are_not_equal() -> None:
    masks, defects = MaskReader().masks([WHOLE, WHOLE], np.array([2, 3]), np.array([3, 2]))
    assert not defects
    assert masks["size"].tolist() == [[2, 3], [3, 2]]
    _, defects = MaskReader().masks([WHOLE, WHOLE], np.array([2, 4]), np.array([3, 4]))
    assert [*defects] == [1]


@pytest.mark.parametrize("bad", [BAD, "AAAA", "?"])
def test_each_of_equal_masks_has_the_defect(bad: str) -> None:
    _, defects = MaskReader().masks([bad, mask(TOP), bad, bad], *sides(4))
    assert sorted(defects) == [0, 2, 3]
    assert len(set(defects.values())) == 1


def test_equal_masks_count_towards_the_size_limit() -> None:
    size = MaskReader()
    size.masks([mask(LEFT)], *sides(1))
    reader = MaskReader(limit=3 * size.read - 1)
    _, defects = reader.masks([mask(LEFT)] * 5, *sides(5))
    assert {index: code for index, (code, _) in defects.items()} == {2: "too_large"}
    assert reader.too_large


def test_no_defect_is_reported_after_the_size_limit() -> None:
    _, defects = MaskReader(limit=5).masks([BAD, BAD, BAD, BAD], *sides(4))
    assert [defects[index][0] for index in sorted(defects)] == ["bad_mask", "bad_mask", "too_large"]
    assert defects[0] == NOT_RUN_LENGTHS
