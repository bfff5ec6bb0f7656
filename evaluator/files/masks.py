"""Decodes and checks masks, which are strings: COCO's compressed run lengths, compressed with zlib, in base64."""

import binascii
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

from evaluator.files.source import Source
from evaluator.files.spool import Spool
from evaluator.metrics.mask_measures import NOT_LENGTHS, measures_of
from evaluator.metrics.masks import runs_of

MASK = np.dtype([("range", np.int64, (2,)), ("box", np.float64, (4,)), ("area", np.int64), ("size", np.int32, (2,))])
"""The dtype of a mask: begin and end of its run lengths in :attr:`MaskReader.run_lengths`, tight box (XMin, XMax, YMin,
YMax), area in pixels, and height and width."""

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
    run_lengths : Spool
        Compressed run lengths, as COCO writes them, of the valid masks read so far. Equal masks are stored only once.
    """

    limit: int = sys.maxsize
    read: int = 0
    run_lengths: Spool = field(default_factory=Spool)

    @classmethod
    def of(cls, source: Source) -> "MaskReader":
        """Return a mask reader with the size limits for a submission.

        The limits on decompressed files also apply to masks, because masks are compressed.
        """
        ratio = max(source.limits.decompressed_ratio * source.path.stat().st_size, RATIO_COUNTS_FROM_BYTES)
        return cls(min(source.limits.decompressed_bytes, ratio), run_lengths=Spool(source.temporary_folder))

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
        firsts = _first_of_equal(texts, heights, widths)
        group: dict[int, bytes] = {}
        size = 0
        for index, compressed in self._distinct(texts, firsts, (heights * widths).tolist(), defects):
            group[index] = compressed
            size += len(compressed)
            if size > GROUP_BYTES:
                self._measure(masks, group, defects)
                group, size = {}, 0
        self._measure(masks, group, defects)
        _complete(masks, defects, firsts)
        return masks, defects

    def _distinct(
        self, texts: Sequence[str], firsts: list[int], pixels: list[int], defects: dict[int, tuple[str, str]]
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the index and the run lengths of each mask that differs from all earlier ones.

        Record a defect for each mask that cannot be decoded, and for the first mask beyond the size limit. The masks
        after that mask are removed from ``firsts``, the result of :func:`_first_of_equal`.
        """
        sizes = [0] * len(texts)
        for index, first in enumerate(firsts):
            if first == index:
                try:
                    compressed = _unpacked(texts[index], pixels[index])
                except ValueError as error:
                    defects[index] = mask_defect(str(error))
                    continue
                sizes[index] = len(compressed)
            self.read += sizes[first]
            if self.read > self.limit:
                defects[index] = "too_large", f"the masks up to this one decompress to more than {self.limit:,} bytes"
                del firsts[index + 1 :]
                return
            if first == index:
                yield index, compressed

    def _measure(
        self, masks: NDArray[np.void], group: Mapping[int, bytes], defects: dict[int, tuple[str, str]]
    ) -> None:
        """Store the run lengths, the area and the box of the masks in a group. Record a defect for each invalid mask.

        ``group`` maps the index of each mask to its compressed run lengths.
        """
        indices, compressed = np.array([*group], np.int64), [*group.values()]
        heights, widths = masks["size"][indices].T.astype(np.int64, order="C")
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
            ends = np.cumsum([*map(len, compressed)], dtype=np.int64) + self.run_lengths.size
            begins = np.append(self.run_lengths.size, ends)[:-1]
            self.run_lengths.append(b"".join(compressed))
            masks["range"][indices] = np.stack([begins, ends], axis=1)
            masks["area"][indices], masks["box"][indices] = measures.areas, measures.boxes


def _first_of_equal(texts: Sequence[str], heights: NDArray[np.int64], widths: NDArray[np.int64]) -> list[int]:
    """Return, for each mask, the index of the first mask with the same text, height and width.

    Predictions are often repeated for the ancestors of their class, with the same mask. Decoding it once saves time.
    """
    seen: dict[tuple[str, int, int], int] = {}
    keys = zip(texts, heights.tolist(), widths.tolist(), strict=True)
    return list(map(seen.setdefault, keys, count()))


def _complete(masks: NDArray[np.void], defects: dict[int, tuple[str, str]], firsts: list[int]) -> None:
    """Copy the values or the defect of each mask to all equal masks. ``firsts`` is that of :func:`_first_of_equal`."""
    for index, first in enumerate(firsts if defects else ()):
        if first in defects:
            defects.setdefault(index, defects[first])
    masks[: len(firsts)] = masks[firsts]


def _unpacked(text: str, pixels: int) -> bytes:
    """Return the compressed run lengths in a mask string.

    Raises
    ------
    ValueError
        If the string cannot be decoded, if it decompresses to too many bytes, or if its last run length is incomplete.
    """
    try:
        packed = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        raise ValueError(NOT_BASE64) from None
    # This limit on the decompressed size stops zip bombs. Of all valid masks, only those that repeat a pattern
    # thousands of times exceed it.
    limit = min(6 * (pixels + 2), max(MAX_INFLATION * len(packed), SHORT_BYTES))
    stream = zlib.decompressobj()
    try:
        compressed = stream.decompress(packed, limit)
    except zlib.error:
        raise ValueError(NOT_ZLIB) from None
    if len(compressed) == limit and not stream.eof:
        raise ValueError(f"this mask decompresses to more than {limit:,} bytes")
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
