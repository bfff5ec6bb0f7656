"""Decodes and checks masks, which are strings: COCO's compressed run lengths, compressed with zlib, in base64."""

import binascii
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

from evaluator.catalog import Limits
from evaluator.metrics.mask_measures import NOT_LENGTHS, measures_of
from evaluator.metrics.masks import runs_of

MASK = np.dtype([("compressed", object), ("area", np.int64), ("box", np.float64, (4,)), ("size", np.int64, (2,))])
"""The dtype of a mask: run lengths, area in pixels, tight box (XMin, XMax, YMin, YMax), and height and width."""

MAX_INFLATION = 200
SHORT_BYTES = 2**16
# Masks are checked in groups. A group is complete once its run lengths have more than this number of bytes.
GROUP_BYTES = 2**20
# Number of bytes that pycocotools allocates for each run of a mask.
BYTES_PER_RUN = 16
# The compression ratio of the masks in a file is checked only if their run lengths have more than this number of bytes
# in total, because valid masks of wide rectangles compress well.
RATIO_COUNTS_FROM_BYTES = 2**24
NOT_BASE64 = "this is not base64"
NOT_ZLIB = "this is not zlib data, or it is incomplete"
NOT_RUN_LENGTHS = "these are not COCO's compressed run lengths"


def mask_defect(message: str) -> tuple[str, str]:
    """Return the defect code ``bad_mask`` and the message of a defect in a submitted mask."""
    return "bad_mask", message


@dataclass(slots=True)
class MaskReader:
    """A reader for the masks in one file.

    Attributes
    ----------
    limit : int
        Maximum size of the decompressed run lengths of all masks together, in bytes.
    read : int
        Size of the decompressed run lengths that have been read so far, in bytes.
    """

    limit: int = sys.maxsize
    read: int = 0

    @classmethod
    def within(cls, limits: Limits, file_bytes: int) -> "MaskReader":
        """Return a mask reader with the size limits for a submission of ``file_bytes`` bytes.

        The limits on decompressed files also apply to masks, because masks are compressed.
        """
        ratio = max(limits.decompressed_ratio * file_bytes, RATIO_COUNTS_FROM_BYTES)
        return cls(min(limits.decompressed_bytes, ratio))

    @property
    def too_large(self) -> bool:
        """Whether the size limit is exceeded. If so, no further masks are read."""
        return self.read > self.limit

    def masks(
        self, texts: Sequence[str], heights: NDArray[np.int64], widths: NDArray[np.int64]
    ) -> tuple[NDArray[np.void], dict[int, tuple[str, str]]]:
        """Decode masks. Return them and the defects of invalid masks. If there is a defect, the masks must not be used.

        Parameters
        ----------
        texts : sequence of N str
        heights, widths : int64 arrays of shape (N,)
            Size of the image of each mask, from 1 to :data:`evaluator.files.numbers.MAX_SIDE`.

        Returns
        -------
        array of shape (N,) of :data:`MASK`, and a dict that maps the index of a mask to (code, message)

        Examples
        --------
        >>> text = binascii.b2a_base64(zlib.compress(b"63"), newline=False).decode()
        >>> MaskReader().masks([text], np.array([3]), np.array([3]))[0]["area"]
        array([3])
        >>> MaskReader().masks([text, "?"], np.array([3, 3]), np.array([3, 3]))[1]
        {1: ('bad_mask', 'this is not base64')}
        """
        masks = np.zeros(len(texts), MASK)
        masks["size"] = np.stack([heights, widths], axis=1)
        defects: dict[int, tuple[str, str]] = {}
        group: dict[int, bytes] = {}
        size = 0
        for index, (text, pixels) in enumerate(zip(texts, (heights * widths).tolist(), strict=True)):
            try:
                group[index] = compressed = _unpacked(text, pixels)
            except ValueError as error:
                defects[index] = mask_defect(str(error))
                continue
            self.read += len(compressed)
            if self.read > self.limit:
                del group[index]
                defects[index] = "too_large", f"the masks up to this one decompress to more than {self.limit:,} bytes"
                break
            size += len(compressed)
            if size > GROUP_BYTES:
                _measure(masks, group, defects)
                group, size = {}, 0
        _measure(masks, group, defects)
        return masks, defects


def _measure(masks: NDArray[np.void], group: Mapping[int, bytes], defects: dict[int, tuple[str, str]]) -> None:
    """Store the compressed form, the area and the box of the masks in a group. Record a defect for each invalid mask.

    ``group`` maps the index of each mask to its compressed form.
    """
    indices, compressed = np.array([*group], np.int64), [*group.values()]
    heights, widths = masks["size"][indices].T.copy()
    measures = measures_of(compressed, heights, widths)
    for row in np.flatnonzero(measures.covered != heights * widths).tolist():
        not_whole = f"its runs do not cover {widths[row]} x {heights[row]} pixels"
        has_lengths = measures.covered[row] != NOT_LENGTHS
        defects[int(indices[row])] = mask_defect(not_whole if has_lengths else NOT_RUN_LENGTHS)
    if not defects:
        rewritten = np.flatnonzero(measures.have_empty_runs).tolist()
        texts = _without_empty_runs([compressed[row] for row in rewritten], masks["size"][indices[rewritten]])
        for row, text in zip(rewritten, texts, strict=True):
            compressed[row] = text
        masks["area"][indices], masks["box"][indices] = measures.areas, measures.boxes
        masks["compressed"][indices] = compressed


def _unpacked(text: str, pixels: int) -> bytes:
    """Return the compressed run lengths in a mask string.

    Raises
    ------
    ValueError
        If the string cannot be decoded, or if its last run length is incomplete.
    """
    try:
        packed = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        raise ValueError(NOT_BASE64) from None
    # Valid masks never exceed this limit on the decompressed size, but zip bombs do.
    limit = min(6 * (pixels + 2), max(MAX_INFLATION * len(packed), SHORT_BYTES))
    stream = zlib.decompressobj()
    try:
        compressed = stream.decompress(packed, limit)
    except zlib.error:
        raise ValueError(NOT_ZLIB) from None
    if not stream.eof or stream.unused_data:
        raise ValueError(NOT_ZLIB)
    # The last run length of a mask must be complete. Otherwise, it would continue in the next mask when masks are
    # joined.
    if compressed[-1:] > b"O":
        raise ValueError(NOT_RUN_LENGTHS)
    return compressed


def _without_empty_runs(compressed: Sequence[bytes], sizes: NDArray[np.int64]) -> Iterator[bytes]:
    """Yield masks of the given heights and widths without their runs of length zero.

    If two masks both have a run of length zero at the same position, pycocotools would stop comparing them there and
    return a wrong overlap.
    """
    runs = runs_of(compressed)
    for start, pairs, size in zip(runs.starts.tolist(), runs.pairs.tolist(), sizes.tolist(), strict=True):
        lengths = runs.lengths[start : start + pairs].ravel()
        inside = np.flatnonzero(lengths) % 2
        begins = np.flatnonzero(np.r_[True, inside[1:] != inside[:-1]])
        counts = np.add.reduceat(lengths[lengths > 0], begins).tolist()
        # pycocotools does not check whether its allocations succeed. Allocating an array of sufficient size first makes
        # sure that MemoryError is raised if there is not enough memory.
        np.empty(max(BYTES_PER_RUN * len(counts), GROUP_BYTES), np.uint8)
        yield coco.frPyObjects({"size": size, "counts": [0] * int(inside[0]) + counts}, *size)["counts"]
