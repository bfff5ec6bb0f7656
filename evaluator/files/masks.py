"""Masks as texts: base64 of zlib of COCO's compressed run lengths, checked before anything else sees them."""

import base64
import binascii
import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

from evaluator.metrics.masks import Runs, areas_of, boxes_of, runs_of

MASK = np.dtype([("compressed", object), ("area", np.int64), ("box", np.float64, (4,)), ("size", np.int64, (2,))])
"""A mask: its compressed run lengths, pixels inside, tight box (XMin, XMax, YMin, YMax), height and width."""

MOST_INFLATED = 200
SHORT_BYTES = 2**16
LENGTHS = re.compile(rb"(?:[P-o]{0,5}[0-O])*")
NO_BASE64 = "this is not base64"
NO_ZLIB = "this is not zlib data, or it was cut off"
NO_LENGTHS = "these are not COCO's compressed run lengths"


def mask_fault(message: str) -> tuple[str, str]:
    """Return (code, message) of what is wrong with a mask."""
    return "bad_mask", message


def read_masks(
    texts: Sequence[str], heights: NDArray[np.int64], widths: NDArray[np.int64]
) -> tuple[NDArray[np.void], dict[int, str]]:
    """Return masks, of use only where there is no fault, and by its place what is wrong with each text that is none.

    Parameters
    ----------
    texts : sequence of N str
    heights, widths : int64 arrays of shape (N,)
        From 1 to :data:`evaluator.files.numbers.MOST_PIXELS_A_SIDE`.

    Returns
    -------
    array of shape (N,) of :data:`MASK`, and a dict of place to message

    Examples
    --------
    >>> text = base64.b64encode(zlib.compress(b"63")).decode()
    >>> read_masks([text], np.array([3]), np.array([3]))[0]["area"]
    array([3])
    >>> read_masks([text, "?"], np.array([3, 3]), np.array([3, 3]))[1]
    {1: 'this is not base64'}
    """
    masks = np.zeros(len(texts), MASK)
    masks["size"] = np.stack([heights, widths], axis=1)
    faults: dict[int, str] = {}
    sound: list[int] = []
    for place, (text, pixels) in enumerate(zip(texts, (heights * widths).tolist(), strict=True)):
        try:
            masks["compressed"][place] = _unpacked(text, pixels)
            sound.append(place)
        except ValueError as error:
            faults[place] = str(error)
    places = np.array(sound, np.int64)
    runs = runs_of(masks["compressed"][places].tolist())
    covered = np.bincount(runs.masks, runs.lengths, len(places))
    negative = np.bincount(runs.masks, runs.lengths < 0, len(places)) > 0
    for row in np.flatnonzero(negative | (covered != (heights * widths)[places])).tolist():
        height, width = masks["size"][sound[row]].tolist()
        faults[sound[row]] = f"its runs do not cover {width} x {height} pixels"
    if not faults:
        _rewrite(masks, runs)
        masks["area"], masks["box"] = areas_of(runs, len(texts)), boxes_of(runs, heights, widths)
    return masks, faults


def _unpacked(text: str, pixels: int) -> bytes:
    """Return the compressed run lengths of a text.

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
    if not LENGTHS.fullmatch(compressed):
        raise ValueError(NO_LENGTHS)
    return compressed


def _rewrite(masks: NDArray[np.void], runs: Runs) -> None:
    """Write masks with empty runs without them: the RLE library would stop at two of them."""
    for place in np.unique(runs.masks[(runs.lengths == 0) & (runs.places > 0)]).tolist():
        counts, inside = [0], False
        for number, length in enumerate(runs.lengths[runs.masks == place].tolist()):
            if length and (number % 2 == 1) != inside:
                counts.append(0)
                inside = not inside
            counts[-1] += length
        size = masks["size"][place].tolist()
        masks["compressed"][place] = coco.frPyObjects({"size": size, "counts": counts}, *size)["counts"]
