"""Decodes and checks masks, which are strings: COCO's compressed run lengths, compressed with zlib, in base64."""

import base64
import binascii
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

from evaluator.catalog import Limits
from evaluator.metrics.masks import MAX_CHARACTERS, Runs, areas_of, boxes_of, covered_by, runs_of, with_empty_runs

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
KINDS = bytes(ord("." if 48 <= code < 80 else "~" if 80 <= code < 112 else "!") for code in range(256))
"""The kind of each byte in compressed run lengths: "." ends a length, "~" continues a length, "!" is invalid."""
INVALID_KINDS = (b"!", b"~" * MAX_CHARACTERS)
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
        >>> text = base64.b64encode(zlib.compress(b"63")).decode()
        >>> MaskReader().masks([text], np.array([3]), np.array([3]))[0]["area"]
        array([3])
        >>> MaskReader().masks([text, "?"], np.array([3, 3]), np.array([3, 3]))[1]
        {1: ('bad_mask', 'this is not base64')}
        """
        masks = np.zeros(len(texts), MASK)
        masks["size"] = np.stack([heights, widths], axis=1)
        defects: dict[int, tuple[str, str]] = {}
        group: list[int] = []
        size = 0
        for index, (text, pixels) in enumerate(zip(texts, (heights * widths).tolist(), strict=True)):
            try:
                masks["compressed"][index] = compressed = _unpacked(text, pixels)
            except ValueError as error:
                defects[index] = mask_defect(str(error))
                continue
            self.read += len(compressed)
            if self.too_large:
                defects[index] = "too_large", f"the masks up to this one decompress to more than {self.limit:,} bytes"
                break
            group.append(index)
            size += len(compressed)
            if size > GROUP_BYTES:
                _measure(masks, group, defects)
                group, size = [], 0
        _measure(masks, group, defects)
        return masks, defects


def _measure(masks: NDArray[np.void], group: Sequence[int], defects: dict[int, tuple[str, str]]) -> None:
    """Compute the area and the box of each mask in a group. Record a defect for each invalid mask."""
    indices = np.array(group, np.int64)
    heights, widths = masks["size"][indices].T
    compressed = masks["compressed"][indices].tolist()
    if _has_invalid_lengths(b"".join(compressed)):
        bad = [index for index, text in zip(group, compressed, strict=True) if _has_invalid_lengths(text)]
        defects |= dict.fromkeys(bad, mask_defect(NOT_RUN_LENGTHS))
        _measure(masks, [index for index in group if index not in defects], defects)
        return
    runs = runs_of(compressed)
    for row in np.flatnonzero(covered_by(runs) != heights * widths).tolist():
        defects[group[row]] = mask_defect(f"the runs of this mask do not cover {widths[row]} x {heights[row]} pixels")
    if not defects:
        masks["area"][indices], masks["box"][indices] = areas_of(runs), boxes_of(runs, heights, widths)
        _rewrite(masks, indices, runs)


def _has_invalid_lengths(text: bytes) -> bool:
    kinds = text.translate(KINDS)
    return any(wrong in kinds for wrong in INVALID_KINDS)


def _unpacked(text: str, pixels: int) -> bytes:
    """Return the compressed run lengths in a mask string. The last run length is always complete.

    Raises
    ------
    ValueError
    """
    try:
        packed = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
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


def _rewrite(masks: NDArray[np.void], indices: NDArray[np.int64], runs: Runs) -> None:
    """Remove runs of length zero from masks.

    If two masks both have a run of length zero at the same position, pycocotools would stop comparing them there and
    return a wrong overlap.
    """
    for row in with_empty_runs(runs).tolist():
        lengths = runs.lengths[runs.starts[row] : runs.starts[row] + runs.pairs[row]].ravel()
        inside = np.flatnonzero(lengths) % 2
        begins = np.flatnonzero(np.r_[True, inside[1:] != inside[:-1]])
        counts = np.add.reduceat(lengths[lengths > 0], begins).tolist()
        size = masks["size"][indices[row]].tolist()
        # pycocotools does not check whether its allocations succeed. Allocating an array of sufficient size first makes
        # sure that MemoryError is raised if there is not enough memory.
        np.empty(max(BYTES_PER_RUN * len(counts), GROUP_BYTES), np.uint8)
        found = coco.frPyObjects({"size": size, "counts": [0] * int(inside[0]) + counts}, *size)
        masks["compressed"][indices[row]] = found["counts"]
