"""Counts confusions, which are pairs of a predicted class and the right class, in a hash table.

A prediction that is not confused is counted too, as ``NO_CONFUSION``. Otherwise, the running time would reveal how many
predictions overlap an object of another class.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import inlined, kernel
from evaluator.kernels.text.lookup import EMPTY, HASH_MULTIPLIER

NO_CONFUSION = 0


class Confusions(NamedTuple):
    """A hash table with linear probing.

    Attributes
    ----------
    codes : int64 array of shape (slots,), a power of two
        (Label of the box × labels + predicted label) × 2, plus 1 for a private image, plus 1; EMPTY for an unused slot.
    times : int64 array of shape (slots,)
        How often each confusion occurs.
    used : int64 array of shape (1,)
        Number of slots that are used.
    """

    codes: NDArray[np.int64]
    times: NDArray[np.int64]
    used: NDArray[np.int64]

    @classmethod
    def empty(cls, most: int) -> "Confusions":
        """Return an empty table with room for ``most`` different confusions."""
        slots = 1 << (2 * most + 1).bit_length()
        return cls(np.full(slots, EMPTY, np.int64), np.zeros(slots, np.int64), np.zeros(1, np.int64))

    def with_room_for(self, more: int) -> "Confusions":
        """Return this table, or a copy that is larger, with room for ``more`` other confusions."""
        most = int(self.used[0]) + more
        if 2 * most <= len(self.codes):
            return self
        larger = Confusions.empty(most)
        move(self, larger)
        return larger

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the code of each confusion, and how often it occurs."""
        found = np.flatnonzero(self.codes > NO_CONFUSION)
        return self.codes[found], self.times[found]


CONFUSIONS = types.NamedUniTuple(types.int64[::1], 3, Confusions)


@inlined
def count(confusions, code, times):
    """Add ``times`` to the count of a code, which can be NO_CONFUSION. The table must have an unused slot."""
    codes, last = confusions.codes, np.uint64(len(confusions.codes) - 1)
    slot = ((np.uint64(code) * HASH_MULTIPLIER) >> np.uint64(32)) & last
    while codes[slot] != code and codes[slot] != EMPTY:
        slot = (slot + np.uint64(1)) & last
    confusions.used[0] += codes[slot] == EMPTY
    codes[slot] = code
    confusions.times[slot] += times


@kernel(CONFUSIONS, CONFUSIONS)
def move(confusions, larger):
    """Add the counts of ``confusions`` to the counts in ``larger``."""
    for slot in range(len(confusions.codes)):
        if confusions.codes[slot] != EMPTY:
            count(larger, confusions.codes[slot], confusions.times[slot])
