"""Memory that ends where a kernel's right to read ends: one byte further and the process dies."""

import ctypes
import mmap
from threading import local

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

BEYOND_BYTES = 64  # how far beyond the last line the kernels say that they may look
PAGE = mmap.PAGESIZE
NO_ACCESS = 0
LIBC = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """Some pages, and behind them one that nobody may touch."""

    def __init__(self, size: int) -> None:
        self.size = -(-size // PAGE) * PAGE
        self.memory = mmap.mmap(-1, self.size + PAGE)
        place = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        if LIBC.mprotect(ctypes.c_void_p(place + self.size), PAGE, NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect")
        self.bytes = np.frombuffer(self.memory, np.uint8, self.size)

    def holding(self, data: Bytes) -> Bytes:
        """Return a copy of ``data`` that ends where the forbidden page begins."""
        self.bytes[self.size - len(data) :] = data
        return self.bytes[self.size - len(data) :]


OWN = local()


def guarded(data: Bytes) -> Bytes:
    """Return a copy of ``data`` in this thread's guarded memory, larger from time to time."""
    if len(data) > getattr(OWN, "size", 0):
        OWN.guarded = Guarded(max(2 * len(data), 1 << 16))
        OWN.size = OWN.guarded.size
    return OWN.guarded.holding(data)
