"""Masks as texts: base64 of zlib of COCO's compressed run lengths, checked before anything else sees them."""

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
"""A mask: its compressed run lengths, pixels inside, tight box (XMin, XMax, YMin, YMax), height and width."""

MOST_INFLATED = 200
SHORT_BYTES = 2**16
GROUP_BYTES = 2**20  # of run lengths that are decoded at once
BYTES_A_RUN = 16  # that the library needs to write a mask
RATIO_COUNTS_FROM_BYTES = 2**24  # a small file of wide rectangles compresses well
KINDS = bytes(ord("." if 48 <= code < 80 else "~" if 80 <= code < 112 else "!") for code in range(256))
"""Characters that end a length, that are followed by another one of it, and that are none."""
NO_KINDS = (b"!", b"~" * MAX_CHARACTERS)
NO_BASE64 = "this is not base64"
NO_ZLIB = "this is not zlib data, or it was cut off"
NO_LENGTHS = "these are not COCO's compressed run lengths"


def mask_fault(message: str) -> tuple[str, str]:
    """Return (code, message) of what is wrong with a mask."""
    return "bad_mask", message


@dataclass(slots=True)
class MaskReader:
    """Reads the masks of one file.

    Attributes
    ----------
    most : int
        Bytes of run lengths, decompressed, that all masks may have together.
    read : int
        Bytes of those that have been read.
    """

    most: int = sys.maxsize
    read: int = 0

    @classmethod
    def within(cls, limits: Limits, file_bytes: int) -> "MaskReader":
        """Return the reader of a submitted file: its masks are compressed once more inside it."""
        ratio = max(limits.decompressed_ratio * file_bytes, RATIO_COUNTS_FROM_BYTES)
        return cls(min(limits.decompressed_bytes, ratio))

    @property
    def too_large(self) -> bool:
        """Whether the limit has been passed; what follows is not read."""
        return self.read > self.most

    def masks(
        self, texts: Sequence[str], heights: NDArray[np.int64], widths: NDArray[np.int64]
    ) -> tuple[NDArray[np.void], dict[int, tuple[str, str]]]:
        """Return masks, of use only where there is no fault, and by its place code and message of each that is none.

        Parameters
        ----------
        texts : sequence of N str
        heights, widths : int64 arrays of shape (N,)
            From 1 to :data:`evaluator.files.numbers.MOST_PIXELS_A_SIDE`.

        Returns
        -------
        array of shape (N,) of :data:`MASK`, and a dict of place to (code, message)

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
        faults: dict[int, tuple[str, str]] = {}
        group: list[int] = []
        size = 0
        for place, (text, pixels) in enumerate(zip(texts, (heights * widths).tolist(), strict=True)):
            try:
                masks["compressed"][place] = compressed = _unpacked(text, pixels)
            except ValueError as error:
                faults[place] = mask_fault(str(error))
                continue
            self.read += len(compressed)
            if self.too_large:
                faults[place] = "too_large", f"the masks up to here decompress to more than {self.most:,} bytes"
                break
            group.append(place)
            size += len(compressed)
            if size > GROUP_BYTES:
                _measure(masks, group, faults)
                group, size = [], 0
        _measure(masks, group, faults)
        return masks, faults


def _measure(masks: NDArray[np.void], group: Sequence[int], faults: dict[int, tuple[str, str]]) -> None:
    """Complete some masks, or note what is wrong with them."""
    places = np.array(group, np.int64)
    heights, widths = masks["size"][places].T
    compressed = masks["compressed"][places].tolist()
    if _is_no_lengths(b"".join(compressed)):
        bad = [place for place, text in zip(group, compressed, strict=True) if _is_no_lengths(text)]
        faults |= dict.fromkeys(bad, mask_fault(NO_LENGTHS))
        _measure(masks, [place for place in group if place not in faults], faults)
        return
    runs = runs_of(compressed)
    for row in np.flatnonzero(covered_by(runs) != heights * widths).tolist():
        faults[group[row]] = mask_fault(f"its runs do not cover {widths[row]} x {heights[row]} pixels")
    if not faults:
        masks["area"][places], masks["box"][places] = areas_of(runs), boxes_of(runs, heights, widths)
        _rewrite(masks, places, runs)


def _is_no_lengths(text: bytes) -> bool:
    kinds = text.translate(KINDS)
    return any(wrong in kinds for wrong in NO_KINDS)


def _unpacked(text: str, pixels: int) -> bytes:
    """Return the compressed run lengths of a text; the last one is complete.

    Raises
    ------
    ValueError
    """
    try:
        packed = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(NO_BASE64) from None
    most = min(6 * (pixels + 2), max(MOST_INFLATED * len(packed), SHORT_BYTES))  # more is no mask, or a bomb
    stream = zlib.decompressobj()
    try:
        compressed = stream.decompress(packed, most)
    except zlib.error:
        raise ValueError(NO_ZLIB) from None
    if not stream.eof or stream.unused_data:
        raise ValueError(NO_ZLIB)
    if compressed[-1:] > b"O":  # so that lengths end where masks do
        raise ValueError(NO_LENGTHS)
    return compressed


def _rewrite(masks: NDArray[np.void], places: NDArray[np.int64], runs: Runs) -> None:
    """Write masks with empty runs without them: the RLE library would stop at two of them."""
    for row in with_empty_runs(runs).tolist():
        lengths = runs.lengths[runs.starts[row] : runs.starts[row] + runs.pairs[row]].ravel()
        inside = np.flatnonzero(lengths) % 2
        begins = np.flatnonzero(np.r_[True, inside[1:] != inside[:-1]])
        counts = np.add.reduceat(lengths[lengths > 0], begins).tolist()
        size = masks["size"][places[row]].tolist()
        np.empty(max(BYTES_A_RUN * len(counts), GROUP_BYTES), np.uint8)  # the library does not check for want of memory
        found = coco.frPyObjects({"size": size, "counts": [0] * int(inside[0]) + counts}, *size)
        masks["compressed"][places[row]] = found["counts"]
