"""Memory that is followed by a guard page. A process that reads beyond the end of this memory is killed by a signal."""

import ctypes
import mmap
from threading import local

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

BEYOND_BYTES = 96  # Kernels may read this many bytes beyond the last line, so copies of blocks include them.
PAGE = mmap.PAGESIZE
NO_ACCESS = 0
LIBC = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """Several pages of memory followed by a guard page, which has no access rights."""

    def __init__(self, size: int) -> None:
        self.size = -(-size // PAGE) * PAGE
        self.memory = mmap.mmap(-1, self.size + PAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        if LIBC.mprotect(ctypes.c_void_p(address + self.size), PAGE, NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect")
        self.bytes = np.frombuffer(self.memory, np.uint8, self.size)

    def holding(self, data: Bytes) -> Bytes:
        """Return a copy of ``data`` that ends immediately before the guard page."""
        self.bytes[self.size - len(data) :] = data
        return self.bytes[self.size - len(data) :]


OWN = local()


def guarded(data: Bytes) -> Bytes:
    """Return a copy of ``data`` that is followed by a guard page.

    Each thread has its own memory for the copy, which the next call overwrites or, if it is too small, replaces.
    """
    if len(data) > getattr(OWN, "size", 0):
        OWN.guarded = Guarded(max(2 * len(data), 1 << 16))
        OWN.size = OWN.guarded.size
    return OWN.guarded.holding(data)
