"""Allocates arrays for millions of curve entries."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

HUGE_PAGE_BYTES = 1 << 21

Element = TypeVar("Element", bound=np.generic)


def whole_pages(size: int, element: type[Element]) -> NDArray[Element]:
    """Return an array of shape (size,) with any values. If it is large, it begins at a multiple of 2 MiB.

    numpy requests huge pages of 2 MiB for large arrays, but an array may begin anywhere. The system would provide the
    memory before the first multiple of 2 MiB and after the last in hundreds of small pages, which takes longer,
    especially if several threads need pages at the same time.
    """
    length = size * np.dtype(element).itemsize
    if length < HUGE_PAGE_BYTES:
        return np.empty(size, element)
    memory = np.empty(length + HUGE_PAGE_BYTES, np.uint8)
    start = -memory.ctypes.data % HUGE_PAGE_BYTES
    return memory[start : start + length].view(element)
