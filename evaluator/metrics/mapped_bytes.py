"""Bytes that are in memory, or in a file that is mapped into memory."""

import mmap
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class MappedBytes:
    """Bytes that cannot be changed.

    Attributes
    ----------
    data : uint8 array
    mapping : mmap or None
        The mapping of the file that contains ``data``; None if :meth:`release` has no effect.
    """

    data: NDArray[np.uint8]
    mapping: mmap.mmap | None = None

    def release(self) -> None:
        """Remove the parts of the file that were read from the memory of this process.

        They are mapped again when they are next read. Without this method, a process that reads the whole file would
        end up with the whole file in its memory.
        """
        if self.mapping is not None:
            self.mapping.madvise(mmap.MADV_DONTNEED)
