"""Generates random numbers that are the same on every machine, using only exact arithmetic on the output of PCG64."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MILLION = 1_000_000
"""Coordinates and confidences are whole numbers of millionths, so they have exactly six decimals."""


class RandomStream:
    """A random number generator that is seeded with a key, a sequence of integers.

    Generators with different keys are independent. numpy guarantees the output of PCG64, but not the output of its
    distributions. A normal distribution would also need logarithms, which differ between processors. Therefore, all
    distributions are computed from the output of PCG64 by sums and products only.

    >>> bool((RandomStream(7, 1).uniform(3) == RandomStream(7, 1).uniform(3)).all())
    True
    """

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def uniform(self, count: int) -> Floats:
        """Return uniformly distributed numbers in [0, 1)."""
        raw: NDArray[np.uint64] = self._bits.random_raw(count)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def bell_shaped(self, count: int) -> Floats:
        """Return random numbers from -3 to 3 with mean 0, variance 1 and a bell-shaped density."""
        return 2.0 * (self.uniform(count) + self.uniform(count) + self.uniform(count) - 1.5)

    def integers(self, limit: int, count: int) -> Ints:
        """Return uniformly distributed integers from 0 to ``limit`` - 1."""
        return (self.uniform(count) * limit).astype(np.int64)

    def bernoulli(self, probability: float, count: int) -> Bools:
        """Return Booleans that are true with the given probability."""
        return self.uniform(count) < probability

    def weighted_indices(self, weights: Ints, count: int) -> Ints:
        """Return random indices into ``weights``. The probability of an index is proportional to its weight."""
        steps = np.cumsum(weights)
        return np.searchsorted(steps, self.integers(int(steps[-1]), count), side="right")

    def counts(self, mean: int, count: int) -> Ints:
        """Return uniformly distributed integers from 0 to twice the value of ``mean``."""
        return self.integers(2 * mean + 1, count)

    def identifiers(self, count: int) -> NDArray[np.bytes_]:
        """Return random ids of 16 hexadecimal digits."""
        raw: NDArray[np.uint64] = self._bits.random_raw(count)
        digits = (raw[:, None] >> np.arange(60, -4, -4, dtype=np.uint64)) & np.uint64(15)
        text: NDArray[np.bytes_] = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)[digits].view("S16").ravel()
        return text
