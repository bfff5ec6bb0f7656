"""Draws the image weights of bootstrap replicates, which all submissions with the same ground truth share."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.file_states import Identity, identity_of, is_settled
from evaluator.salt import replicate_entropy

Weights = NDArray[np.uint8]
# Number of bootstrap replicates in a block. An image has one weight per replicate, and each weight is one byte, so the
# 64 weights of an image in a block fill a cache line.
LANES = 64
# An image weight is stored in one byte. If it exceeds 255 (probability about 10**-500), the replicate is drawn again.
MAX_WEIGHT = 255
MAGIC = b"PODIUM\x00D"
# The state of each file of image weights that this process has verified.
_VERIFIED: dict[Path, Identity] = {}
HEADER_BYTES = 64  # A file of image weights starts with the magic number, the sha256 of the weights, and padding.


@dataclass(frozen=True, slots=True)
class Draws:
    """The image weights of one split, in blocks of :data:`LANES` bootstrap replicates.

    Replicate ``b`` is a sample of the split's images, drawn with replacement. It has the same number of images as the
    split. The seed of its random generator is (salt, split, seed, b). Therefore, the weights are the same for all
    submissions, and replicate 7 of 100 equals replicate 7 of 1,000. The split is part of the seed because the scores of
    equally large splits would otherwise be correlated.

    Without a salt, the seed is (truth, seed, split, b). All of these are public, so anybody who knows a score and its
    interval can draw the same weights and find out for which images the answers were correct.

    Attributes
    ----------
    truth : str
        The SHA-256 hash of the ground truth in hexadecimal digits.
    split : int
        Index of the split: 0 for all, 1 for public, 2 for private.
    seed : int
        The seed of the replicates, at least 0.
    images : int
        Number of images in the split.
    replicates : int
        Number of replicates. The last block is always drawn completely, even if only a part of it is needed.
    salt : bytes
        The salt, a secret of the ground truth; empty if it has none.
    """

    truth: str
    split: int
    seed: int
    images: int
    replicates: int
    salt: bytes = field(default=b"", repr=False)

    @property
    def blocks(self) -> int:
        """The number of blocks that are drawn. The last block may contain more replicates than are needed."""
        return -(-self.replicates // LANES)

    @property
    def file_name(self) -> str:
        """The name of the file with the weights. It contains the hash, the split, the seed and the number of blocks.

        The name need not contain the salt (a secret of the ground truth), because ground truths with different salts
        have different SHA-256 hashes.
        """
        return f"{self.truth}-{self.split}-{self.seed}-{self.blocks}.draws"

    def block(self, number: int) -> Weights:
        """Return the image weights of one block of bootstrap replicates: a uint8 array of shape (images, LANES)."""
        first = number * LANES
        drawn = np.stack([self._replicate(first + lane) for lane in range(LANES)])
        return np.ascontiguousarray(drawn.T)

    def _replicate(self, number: int) -> Weights:
        """Return the image weights of one replicate, shape (images,).

        numpy guarantees the bits of PCG64, but not the output of ``Generator.integers``. Therefore, the upper half of
        each 64-bit output is mapped to an image by a product and a shift. The resulting distribution is uniform up to
        one part in 2**32 / images.
        """
        bits = np.random.PCG64(self._seeds(number))
        while True:
            upper = bits.random_raw(self.images) >> np.uint64(32)
            chosen = (upper * np.uint64(self.images)) >> np.uint64(32)
            weights = np.bincount(chosen.astype(np.int64), minlength=self.images)
            if weights.max(initial=0) <= MAX_WEIGHT:
                return weights.astype(np.uint8)

    # The return type is in quotes, because evaluating it would import numpy's random module.
    def _seeds(self, number: int) -> "np.random.SeedSequence":
        if self.salt:
            return np.random.SeedSequence(replicate_entropy(self.salt, self.split, self.seed, number))
        return np.random.SeedSequence(int(self.truth, 16), spawn_key=(self.seed, self.split, number))


def blocks_of(draws: Draws, folder: Path | None) -> Callable[[int], Weights]:
    """Return a function that takes the index of a block and returns the image weights of the block's replicates.

    Parameters
    ----------
    draws : Draws
    folder : Path or None
        Folder in which the weights are stored. If it contains no valid file for these draws, all blocks are drawn and
        written to a file. Blocks are then read from the memory-mapped file. If None, each block is drawn when it is
        requested.
    """
    if folder is None:
        return draws.block
    path = folder / draws.file_name
    weights = _mapped(path, draws)
    if weights is None:
        _write(path, draws)
        weights = _mapped(path, draws)
    if weights is None:
        raise OSError(f"{path} does not contain the data that was just written to it")
    return weights.__getitem__


def _mapped(path: Path, draws: Draws) -> Weights | None:
    """Return the image weights in a file as a memory-mapped array, or None if the file is missing or damaged.

    The array has the shape (blocks, images, LANES). Each block contains the weights of LANES bootstrap replicates. The
    weights are compared with their checksum once for each state of the file.
    """
    shape = (draws.blocks, draws.images, LANES)
    if not path.exists():
        return None
    with path.open("rb") as file:
        identity = identity_of(os.fstat(file.fileno()))
        if os.fstat(file.fileno()).st_size != HEADER_BYTES + int(np.prod(shape)):
            return None
        memory = np.asarray(np.memmap(file, np.uint8, "r"))
    body = memory[HEADER_BYTES:]
    if _VERIFIED.get(path) != identity:
        if memory[:HEADER_BYTES].tobytes() != _header(sha256(body.data).digest()):
            return None
        if is_settled(identity):
            _VERIFIED[path] = identity
    return body.reshape(shape)


def _write(path: Path, draws: Draws) -> None:
    """Draw all blocks of image weights, and write them to a temporary file, which is renamed when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    digest = sha256()
    try:
        # Only the owner may read the file of image weights. The weights and an interval together reveal which answers
        # were correct.
        partial.touch(mode=0o600)
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
