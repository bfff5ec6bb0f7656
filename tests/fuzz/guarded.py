"""Memory that is followed by a forbidden page: a process that reads beyond the end is killed by a signal."""

import ctypes
import mmap
from threading import local

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

BEYOND_BYTES = 64  # number of bytes after the last line that kernels may read
PAGE = mmap.PAGESIZE
NO_ACCESS = 0
LIBC = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """Some pages of memory followed by a page without access rights."""

    def __init__(self, size: int) -> None:
        self.size = -(-size // PAGE) * PAGE
        self.memory = mmap.mmap(-1, self.size + PAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        if LIBC.mprotect(ctypes.c_void_p(address + self.size), PAGE, NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect")
        self.bytes = np.frombuffer(self.memory, np.uint8, self.size)

    def holding(self, data: Bytes) -> Bytes:
        """Copy ``data`` so that it ends where the forbidden page begins; return the copy."""
        self.bytes[self.size - len(data) :] = data
        return self.bytes[self.size - len(data) :]


OWN = local()


def guarded(data: Bytes) -> Bytes:
    """Copy ``data`` to this thread's guarded memory, which grows when needed; return the copy."""
    if len(data) > getattr(OWN, "size", 0):
        OWN.guarded = Guarded(max(2 * len(data), 1 << 16))
        OWN.size = OWN.guarded.size
    return OWN.guarded.holding(data)
