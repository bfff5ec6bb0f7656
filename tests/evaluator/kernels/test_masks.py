"""The pixel counts of mask intersections equal those of pycocotools, no matter how many masks are processed at once."""

import numpy as np
import pytest
from numpy.typing import NDArray
from pycocotools import mask as coco

from evaluator.metrics import masks
from evaluator.metrics.mapped_bytes import MappedBytes
from evaluator.metrics.masks import Masks, intersections

HEIGHT, WIDTH = 24, 31


def drawn(rng: np.random.Generator, count: int) -> list[NDArray[np.uint8]]:
    """Return random masks of noise, rectangles or stripes, each of which is cropped at random."""
    found = []
    for _ in range(count):
        pixels = np.zeros((HEIGHT, WIDTH), np.uint8, order="F")
        top, left = rng.integers(0, HEIGHT), rng.integers(0, WIDTH)
        inside = [rng.random((HEIGHT, WIDTH)) < rng.random(), True, np.indices((HEIGHT, WIDTH))[0] % 2 == 0]
        pixels[:] = inside[rng.integers(0, 3)]
        pixels[: top * rng.integers(0, 2)] = 0
        pixels[:, left + 1 :] = 0
        found.append(pixels)
    return found


def written(pixels: list[NDArray[np.uint8]]) -> Masks:
    return joined([coco.encode(each)["counts"] for each in pixels], np.array([each.sum() for each in pixels]))


def joined(compressed: list[bytes], areas: NDArray[np.int64]) -> Masks:
    """Return masks whose run lengths are stored in reverse order, with bytes of no mask between them."""
    ends = np.cumsum([len(text) + 1 for text in reversed(compressed)], dtype=np.int64)[::-1]
    begins = ends - np.array([*map(len, compressed)], np.int64)
    run_lengths = np.frombuffer(b"".join(b"!" + text for text in reversed(compressed)), np.uint8)
    return Masks(MappedBytes(run_lengths), np.stack([begins, ends], axis=1), areas)


@pytest.mark.parametrize("most", [1, 200, 2**20])
@pytest.mark.parametrize("seed", range(15))
def test_common_pixels_are_those_of_pycocotools(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are three images. As in scoring, each predicted mask is compared with all objects in its image."""
    monkeypatch.setattr(masks, "BYTES_AT_ONCE", most)
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, (3, 2))
    ours, theirs = drawn(rng, int(counts[:, 0].sum())), drawn(rng, int(counts[:, 1].sum()))
    starts = np.cumsum(counts, axis=0) - counts
    pairs = [
        (mine, its)
        for (mine_from, its_from), (mine_count, its_count) in zip(starts, counts, strict=True)
        for mine in range(mine_from, mine_from + mine_count)
        for its in range(its_from, its_from + its_count)
    ]
    mine, its = np.array(pairs).T
    found = intersections(written(ours), written(theirs), mine, its)
    assert found.tolist() == [float((ours[one] & theirs[other]).sum()) for one, other in pairs]


def test_without_pairs_there_are_no_common_pixels() -> None:
    none = np.empty(0, np.int64)
    assert len(intersections(written([]), written([]), none, none)) == 0


@pytest.mark.parametrize("most", [1, 200, 2**20])
def test_partners_need_not_be_adjacent(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masks, "BYTES_AT_ONCE", most)
    rng = np.random.default_rng(4)
    ours, theirs = drawn(rng, 9), drawn(rng, 12)
    pairs = [(mine, its) for mine in range(9) for its in sorted(rng.choice(12, 5, replace=False).tolist())]
    mine, its = np.array(pairs).T
    found = intersections(written(ours), written(theirs), mine, its)
    assert found.tolist() == [float((ours[one] & theirs[other]).sum()) for one, other in pairs]
