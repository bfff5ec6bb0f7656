"""The bootstrap weights of images are drawn once and are the same for all submissions."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from evaluator import draws as module
from evaluator.draws import LANES, Draws, blocks_of

TRUTH = sha256(b"a truth").hexdigest()


def drawn(*, images: int = 50, replicates: int = 100, split: int = 0, seed: int = 0, truth: str = TRUTH) -> Draws:
    return Draws(truth, split, seed, images, replicates)


def pcg64(state: int, increment: int) -> Iterator[int]:
    """Yield the output of O'Neill's generator PCG XSL-RR 128/64, computed by an independent implementation."""
    while True:
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + increment) % 2**128
        word, turn = (state >> 64) ^ (state % 2**64), state >> 122
        yield (word >> turn | word << (64 - turn)) % 2**64


def test_a_replicate_is_drawn_by_the_published_generator() -> None:
    seeds = np.random.SeedSequence(int(TRUTH, 16), spawn_key=(7, 2, LANES + 3))
    inner = np.random.PCG64(seeds).state["state"]
    weights = [0] * 50
    for _, bits in zip(range(50), pcg64(inner["state"], inner["inc"]), strict=False):
        weights[(bits >> 32) * 50 >> 32] += 1
    assert drawn(seed=7, split=2).block(1)[:, 3].tolist() == weights


@pytest.mark.parametrize("images", [0, 1, 2, 1_000])
def test_every_replicate_draws_as_many_images_as_the_split_has(images: int) -> None:
    block = drawn(images=images).block(0)
    assert block.shape == (images, LANES)
    assert block.dtype == np.uint8
    assert (block.sum(axis=0, dtype=int) == images).all()


def test_draws_depend_on_truth_split_seed_and_replicate_number() -> None:
    others = [drawn(truth="ab" * 32), drawn(split=1), drawn(seed=1)]
    blocks = [drawn().block(0), drawn().block(1), *(other.block(0) for other in others)]
    columns = {column.tobytes() for block in blocks for column in block.T}
    assert len(columns) == len(blocks) * LANES


def test_a_replicate_does_not_depend_on_the_number_of_replicates() -> None:
    assert np.array_equal(drawn(replicates=10).block(0), drawn(replicates=1_000).block(0))


def test_each_image_is_drawn_as_often_as_any_other() -> None:
    """This is a chi-squared test on 6,400 replicates of 50 images.

    With 49 degrees of freedom, the statistic is below 85 with probability 99.9%.
    """
    draws = drawn(replicates=6_400)
    counts = np.sum([draws.block(number).sum(axis=1, dtype=int) for number in range(draws.blocks)], axis=0)
    expected = LANES * draws.blocks
    assert ((counts - expected) ** 2 / expected).sum() < 85


def test_replicates_with_a_weight_above_the_maximum_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    free = drawn().block(0)
    most = int(free.max())
    monkeypatch.setattr(module, "MAX_WEIGHT", most - 1)
    bounded = drawn().block(0)
    assert bounded.max() == most - 1
    assert (bounded.sum(axis=0, dtype=int) == 50).all()
    unaffected = free.max(axis=0) < most
    assert np.array_equal(bounded[:, unaffected], free[:, unaffected])


def all_blocks(draws: Draws, folder: Path | None) -> list[list[list[int]]]:
    block = blocks_of(draws, folder)
    return [block(number).tolist() for number in range(draws.blocks)]


@pytest.mark.parametrize("images", [0, 1, 50])
def test_stored_draws_are_equal_to_new_ones(images: int, tmp_path: Path) -> None:
    draws, folder = drawn(images=images), tmp_path / "new" / "folder"
    for _ in range(2):
        assert all_blocks(draws, folder) == all_blocks(draws, None)
    assert [path.name for path in folder.iterdir()] == [draws.file_name]


def test_stored_draws_are_not_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = drawn()
    first = all_blocks(draws, tmp_path)
    monkeypatch.delattr(Draws, "block")
    assert all_blocks(draws, tmp_path) == first


def test_stored_draws_are_read_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        blocks_of(drawn(), tmp_path)(0)[0, 0] = 1


@pytest.mark.parametrize("place", [0, 20, 64, -1])
def test_draws_are_repeated_if_the_file_is_damaged(place: int, tmp_path: Path) -> None:
    draws = drawn()
    first = all_blocks(draws, tmp_path)
    path = tmp_path / draws.file_name
    sound = path.read_bytes()
    damaged = bytearray(sound)
    damaged[place] ^= 1
    path.write_bytes(damaged)
    assert all_blocks(draws, tmp_path) == first
    assert path.read_bytes() == sound


@pytest.mark.parametrize("change", [lambda data: b"", lambda data: data[:-1], lambda data: data + b"\0"])
def test_draws_are_repeated_if_the_file_has_the_wrong_size(change, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    draws = drawn()
    first = all_blocks(draws, tmp_path)
    path = tmp_path / draws.file_name
    path.write_bytes(change(path.read_bytes()))
    assert all_blocks(draws, tmp_path) == first


def test_an_interrupted_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Draws.block

    def broken(draws: Draws, number: int) -> module.Weights:
        if number == 1:
            raise KeyboardInterrupt
        return whole(draws, number)

    monkeypatch.setattr(Draws, "block", broken)
    with pytest.raises(KeyboardInterrupt):
        blocks_of(drawn(), tmp_path)
    assert list(tmp_path.iterdir()) == []
