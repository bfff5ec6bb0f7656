"""Large arrays for curve entries begin at a multiple of 2 MiB."""

import numpy as np
import pytest

from evaluator.tracks.shared.curves.memory import HUGE_PAGE_BYTES, whole_pages

ENTRIES_OF_A_PAGE = HUGE_PAGE_BYTES // 8


@pytest.mark.parametrize("size", [ENTRIES_OF_A_PAGE, ENTRIES_OF_A_PAGE + 1, 3 * ENTRIES_OF_A_PAGE - 1])
def test_a_large_array_begins_at_a_multiple_of_2_mib(size: int) -> None:
    arrays = [whole_pages(size, np.float64) for _ in range(3)]
    assert [array.ctypes.data % HUGE_PAGE_BYTES for array in arrays] == [0, 0, 0]


@pytest.mark.parametrize("size", [0, 1, ENTRIES_OF_A_PAGE - 1, ENTRIES_OF_A_PAGE, 5 * ENTRIES_OF_A_PAGE])
@pytest.mark.parametrize("element", [np.float64, np.uint32, np.int32])
def test_an_array_has_the_requested_size_and_can_be_written(size: int, element: type[np.generic]) -> None:
    array = whole_pages(size, element)
    array[:] = 7
    assert (array.shape, array.dtype, array.flags.c_contiguous) == ((size,), element, True)
    assert (array == 7).all()
