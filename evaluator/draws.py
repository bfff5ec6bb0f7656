"""How often each image counts in each bootstrap replicate: drawn from the salt, the same for every submission."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.salt import replicate_entropy

Weights = NDArray[np.uint8]
LANES = 64  # replicates in a block: all that one image counts in them fills one cache line
MOST = 255  # the largest weight; more for one image comes up once in 10**500 replicates and is drawn anew
MAGIC = b"PODIUM\x00D"
HEADER_BYTES = 64  # magic, sha256 of what follows, zeros


@dataclass(frozen=True, slots=True)
class Draws:
    """The image weights of one split, in blocks of :data:`LANES` replicates.

    Replicate ``b`` draws as many images as the split has, with replacement. Its generator is seeded by (salt, split,
    seed, b) and by nothing else, so two submissions share their draws, and replicate 7 of 100 is replicate 7 of
    1,000. The split is in the seed because public and private images would otherwise be drawn by the same numbers
    and their scores would go up and down together.

    A truth without a salt has (truth, seed, split, b) instead. All of these are public, so that whoever knows a score
    and its interval can draw the same weights and find out which images were right.

    Attributes
    ----------
    truth : str
        Its sha256, hexadecimal.
    split : int
        Number of the split.
    seed : int
        From 0.
    images : int
        How many the split has.
    replicates : int
        How many are wanted; the last block is complete all the same.
    salt : bytes
        The truth's; empty where it has none.
    """

    truth: str
    split: int
    seed: int
    images: int
    replicates: int
    salt: bytes = field(default=b"", repr=False)

    @property
    def blocks(self) -> int:
        """How many blocks hold the replicates."""
        return -(-self.replicates // LANES)

    @property
    def file_name(self) -> str:
        """Name of the file that keeps them; another number of blocks is another file.

        It does not hold the salt, and needs not: truths of different salts have different sha256.
        """
        return f"{self.truth}-{self.split}-{self.seed}-{self.blocks}.draws"

    def block(self, number: int) -> Weights:
        """Draw one block: uint8 array of shape (images, LANES)."""
        first = number * LANES
        drawn = np.stack([self._replicate(first + lane) for lane in range(LANES)])
        return np.ascontiguousarray(drawn.T)

    def _replicate(self, number: int) -> Weights:
        """Draw the weights of one replicate, shape (images,).

        numpy promises that PCG64 gives the same bits for ever, and promises nothing of that kind for
        ``Generator.integers``. So the upper half of each 64 bits becomes an image here: a product and a shift, even
        to one part in 2**32 / images.
        """
        bits = np.random.PCG64(self._seeds(number))
        while True:
            upper = bits.random_raw(self.images) >> np.uint64(32)
            chosen = (upper * np.uint64(self.images)) >> np.uint64(32)
            weights = np.bincount(chosen.astype(np.int64), minlength=self.images)
            if weights.max(initial=0) <= MOST:
                return weights.astype(np.uint8)

    def _seeds(self, number: int) -> np.random.SeedSequence:
        if self.salt:
            return np.random.SeedSequence(replicate_entropy(self.salt, self.split, self.seed, number))
        return np.random.SeedSequence(int(self.truth, 16), spawn_key=(self.seed, self.split, number))


def blocks_of(draws: Draws, folder: Path | None) -> Callable[[int], Weights]:
    """Return what gives a block by its number.

    Parameters
    ----------
    draws : Draws
    folder : Path or None
        Where drawn weights are kept: they are drawn where no sound file of theirs is there, then memory-mapped. None:
        each block is drawn when it is asked for.
    """
    if folder is None:
        return draws.block
    path = folder / draws.file_name
    kept = _mapped(path, draws)
    if kept is None:
        _keep(path, draws)
        kept = _mapped(path, draws)
    if kept is None:
        raise OSError(f"{path} does not hold what was just written to it")
    return kept.__getitem__


def _mapped(path: Path, draws: Draws) -> Weights | None:
    """Return a sound file's weights, shape (blocks, images, LANES); None where it is missing or damaged."""
    shape = (draws.blocks, draws.images, LANES)
    if not path.exists() or path.stat().st_size != HEADER_BYTES + int(np.prod(shape)):
        return None
    memory = np.asarray(np.memmap(path, np.uint8, "r"))
    body = memory[HEADER_BYTES:]
    return body.reshape(shape) if memory[:HEADER_BYTES].tobytes() == _header(sha256(body.data).digest()) else None


def _keep(path: Path, draws: Draws) -> None:
    """Write all blocks to a file that takes its name when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    digest = sha256()
    try:
        partial.touch(mode=0o600)  # as secret as the truth: draws and an interval tell which images were right
        with partial.open("wb") as file:
            file.write(bytes(HEADER_BYTES))
            for number in range(draws.blocks):
                block = draws.block(number)
                digest.update(block.data)
                file.write(block.data)
            file.seek(0)
            file.write(_header(digest.digest()))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _header(digest: bytes) -> bytes:
    return (MAGIC + digest).ljust(HEADER_BYTES, b"\0")
