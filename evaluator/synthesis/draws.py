"""Random numbers that are the same on every machine: raw PCG64 bits, then only exact arithmetic."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MILLION = 1_000_000
"""Every coordinate and confidence is a whole number of millionths: six decimals, always."""


class Stream:
    """An independent source of numbers, named by its key.

    numpy promises the raw bits of PCG64 for ever, but not what its distributions make of them, and the logarithms
    behind a normal distribution differ between processors; so everything here is made of the bits by sums and products.

    >>> bool((Stream(7, 1).uniform(3) == Stream(7, 1).uniform(3)).all())
    True
    """

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def uniform(self, count: int) -> Floats:
        """Return numbers in [0, 1)."""
        raw: NDArray[np.uint64] = self._bits.random_raw(count)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def bell(self, count: int) -> Floats:
        """Return numbers around 0 with variance 1, none beyond 3."""
        return 2.0 * (self.uniform(count) + self.uniform(count) + self.uniform(count) - 1.5)

    def below(self, limit: int, count: int) -> Ints:
        """Return whole numbers from 0 to ``limit`` - 1."""
        return (self.uniform(count) * limit).astype(np.int64)

    def happens(self, probability: float, count: int) -> Bools:
        """Return True as often as ``probability`` says."""
        return self.uniform(count) < probability

    def pick(self, weights: Ints, count: int) -> Ints:
        """Return indices of ``weights``, each as often as its weight says."""
        steps = np.cumsum(weights)
        return np.searchsorted(steps, self.below(int(steps[-1]), count), side="right")

    def counts(self, mean: int, count: int) -> Ints:
        """Return whole numbers from 0 to twice ``mean``."""
        return self.below(2 * mean + 1, count)

    def identifiers(self, count: int) -> NDArray[np.bytes_]:
        """Return names of 16 hexadecimal digits."""
        raw: NDArray[np.uint64] = self._bits.random_raw(count)
        digits = (raw[:, None] >> np.arange(60, -4, -4, dtype=np.uint64)) & np.uint64(15)
        text: NDArray[np.bytes_] = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)[digits].view("S16").ravel()
        return text
