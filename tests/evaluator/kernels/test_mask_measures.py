"""The kernel that measures masks returns the numbers of the reference implementation, for valid and damaged masks."""

import base64
import sys
import zlib
from importlib import import_module

import numpy as np
import pytest
from numpy.typing import NDArray
from pycocotools import mask as coco

from evaluator.files.masks import MaskReader
from evaluator.metrics import mask_measures
from evaluator.metrics.mask_measures import NEGATIVE, NOT_LENGTHS, kernel_measures, numpy_measures
from evaluator.metrics.masks import Masks
from tests.evaluator.kernels.test_masks import HEIGHT, WIDTH, drawn

LENGTHS = b"0123456789ABO_`aoPR"
# Two encodings of a mask in which all pixels except the first two of 744 are set. The first encoding has an empty run
# between these two pixels. From the fourth run on, the difference from the run two positions before is encoded.
WITH_EMPTY_RUNS = b"10" + b"1" + coco.frPyObjects({"size": [1, 1], "counts": [742]}, 1, 1)["counts"]
WITHOUT_EMPTY_RUNS = b"2" + coco.frPyObjects({"size": [1, 1], "counts": [742]}, 1, 1)["counts"]
Sides = tuple[NDArray[np.int64], NDArray[np.int64]]


def sides(count: int) -> Sides:
    return np.full(count, HEIGHT), np.full(count, WIDTH)


def damaged(rng: np.random.Generator, text: bytes) -> bytes:
    """Return a mask with some characters replaced. The last character ends a run length, as the kernel requires."""
    characters = bytearray(text)
    for _ in range(rng.integers(0, 4)):
        alphabet = LENGTHS if rng.random() < 0.9 else bytes(range(256))
        characters[rng.integers(0, len(characters))] = alphabet[rng.integers(0, len(alphabet))]
    return bytes(characters) if characters[-1] < 80 else bytes(characters) + b"0"


@pytest.mark.parametrize("seed", range(20))
def test_the_kernel_measures_masks_as_numpy_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = [coco.encode(pixels)["counts"] for pixels in drawn(rng, 60)]
    kernel, reference = kernel_measures(texts, *sides(60)), numpy_measures(texts, *sides(60))
    assert kernel.covered.tolist() == [HEIGHT * WIDTH] * 60
    areas = coco.area([{"size": [HEIGHT, WIDTH], "counts": text} for text in texts])
    assert kernel.areas.tolist() == reference.areas.tolist() == areas.tolist()
    assert kernel.boxes.tobytes() == reference.boxes.tobytes()
    assert not kernel.have_empty_runs.any()


@pytest.mark.parametrize("seed", range(60))
def test_the_kernel_rejects_the_masks_that_numpy_rejects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = [damaged(rng, coco.encode(pixels)["counts"]) for pixels in drawn(rng, 40)]
    kernel, reference = kernel_measures(texts, *sides(40)), numpy_measures(texts, *sides(40))
    assert kernel.covered.tolist() == reference.covered.tolist()
    whole = np.flatnonzero(kernel.covered == HEIGHT * WIDTH)
    each = [numpy_measures([texts[index]], *sides(1)) for index in whole.tolist()]
    assert kernel.areas[whole].tolist() == [int(one.areas[0]) for one in each]
    assert kernel.boxes[whole].tolist() == [one.boxes[0].tolist() for one in each]
    assert kernel.have_empty_runs[whole].tolist() == [bool(one.have_empty_runs[0]) for one in each]


@pytest.mark.parametrize(
    ("text", "covered", "empty_runs"),
    [
        (b"", 0, False),  # no runs at all
        (b"PoPoPoP0", NOT_LENGTHS, None),  # a length of more than six characters
        (b"PPPPP0", 0, False),  # a length of six characters
        (b"4/", NOT_LENGTHS, None),  # a character below the lowest valid one
        (b"4p0", NOT_LENGTHS, None),  # a character above the highest
        (b"2N2", NEGATIVE, None),  # a negative length
        (b"0200", 4, True),  # an empty run that is not the first
        (b"04", 4, False),  # an empty first run
    ],
)
def test_special_masks(text: bytes, covered: int, empty_runs: bool | None) -> None:
    for measure in (kernel_measures, numpy_measures):
        found = measure([text, b"4"], np.array([2, 2]), np.array([2, 2]))
        assert found.covered.tolist() == [covered, 4]
        if text and empty_runs is not None:
            assert found.have_empty_runs.tolist() == [empty_runs, False]


def test_damaged_masks_of_all_kinds_occur() -> None:
    rng = np.random.default_rng(1)
    texts = [damaged(rng, coco.encode(pixels)["counts"]) for pixels in drawn(rng, 400)]
    covered = numpy_measures(texts, *sides(400)).covered.tolist()
    assert {NEGATIVE, NOT_LENGTHS, HEIGHT * WIDTH} < set(covered)


@pytest.mark.parametrize("damage", [False, True])
def test_a_reader_with_the_kernel_returns_the_masks_and_defects_of_one_with_numpy(
    damage: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    bodies = [coco.encode(pixels)["counts"] for pixels in drawn(rng, 200)]
    bodies = [damaged(rng, body) for body in bodies] if damage else [*bodies, WITH_EMPTY_RUNS]
    texts = [base64.b64encode(zlib.compress(body)).decode() for body in bodies]
    found = []
    for kernel_from in (0, sys.maxsize):
        monkeypatch.setattr(mask_measures, "KERNEL_FROM_BYTES", kernel_from)
        reader = MaskReader()
        masks, defects = reader.masks(texts, *sides(len(texts)))
        run_lengths = Masks(reader.run_lengths.content(), masks["range"], masks["area"]).compressed()
        found.append((defects, [] if defects else [run_lengths, masks["area"].tolist(), masks["box"].tolist()]))
    assert found[0] == found[1]
    assert bool(found[0][0]) == damage
    assert damage or found[0][1][0][-1] == WITHOUT_EMPTY_RUNS


def test_only_large_groups_of_masks_load_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(mask_measures, "import_module", lambda name: loaded.append(name) or import_module(name))
    for count in (10, mask_measures.KERNEL_FROM_BYTES):
        mask_measures.measures_of([b"4"] * count, np.full(count, 2), np.full(count, 2))
        assert len(loaded) == (count > 10)
