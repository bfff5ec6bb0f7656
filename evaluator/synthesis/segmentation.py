"""Made-up pictures for instance segmentation: those of detection, each object an ellipse in its box."""

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pycocotools import mask as coco

from evaluator.synthesis import detection
from evaluator.synthesis.detection import DetectionScene
from evaluator.synthesis.detection_classes import LABELS
from evaluator.synthesis.draws import MILLION, Bools, Ints, Stream
from evaluator.synthesis.rows import Text, decimals, lines, names, prediction_strings
from evaluator.synthesis.scene import World

SMALLEST, VARIETY = 40, 40
"""Sides of the pictures in pixels: at least, and how many lengths there are."""

_LABEL_CELLS = names(LABELS)
_FLAGS = names(["0", "1"])
_SIDES = names([str(number) for number in range(SMALLEST + VARIETY)])


@dataclass(frozen=True, slots=True)
class MaskScene:
    """Pictures of detection with sizes, and which objects have a mask.

    Attributes
    ----------
    seen : the pictures and their objects
    sides : int array (pictures, 2), width and height
    masked : bool array, one entry an object
    """

    seen: DetectionScene
    sides: Ints
    masked: Bools

    def truth(self) -> Mapping[str, bytes]:
        """Return lines of boxes, masks, verified labels and images."""
        seen, mine = self.seen, np.flatnonzero(self.masked)
        image = seen.image[mine]
        masks = lines(
            seen.ids[image],
            _LABEL_CELLS[seen.label[mine]],
            *self._sizes(image),
            *(decimals(seen.box[mine, edge]) for edge in range(4)),
            _FLAGS[seen.group[mine].astype(np.int64)],
            self._masks(image, seen.box[mine]),
        )
        every = np.arange(len(seen.ids))
        return {**seen.truth(), "masks.csv": masks, "images.csv": lines(seen.ids, *self._sizes(every))}

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes, bytes]:
        """Return what a detector of this quality reports; it draws an ellipse into each box."""
        image, label, box, confidence = self.seen.reported(stream, quality=quality)
        cells = (_LABEL_CELLS[label], decimals(confidence), self._masks(image, box))
        every = np.arange(len(self.seen.ids))
        heads = np.array([b",".join(row) for row in zip(self.seen.ids, *self._sizes(every), strict=True)])
        return prediction_strings(heads, image, *cells), lines(self.seen.ids[image], *self._sizes(image), *cells)

    def _sizes(self, image: Ints) -> tuple[Text, Text]:
        return _SIDES[self.sides[image, 0]], _SIDES[self.sides[image, 1]]

    def _masks(self, image: Ints, boxes: Ints) -> Text:
        """Return the texts of masks, one ellipse in each box; it covers a pixel at least."""
        texts = []
        for (width, height), (x_min, x_max, y_min, y_max) in zip(
            self.sides[image].tolist(), boxes.tolist(), strict=True
        ):
            across, down = _span(x_min, x_max, width), _span(y_min, y_max, height)
            pixels = (across[None, :] + down[:, None] <= 1.0).astype(np.uint8)
            compressed = coco.encode(np.asfortranarray(pixels))["counts"]
            texts.append(base64.b64encode(zlib.compress(compressed, 0)))  # stored: zlibs differ in how they compress
        return np.array(texts, dtype=np.bytes_)


def _span(low: int, high: int, side: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return for each pixel of a side how far it is from the middle of the box: squared, 1 at its edge, 0 near it."""
    first, last = low * side // MILLION, max(high * side // MILLION, low * side // MILLION + 1)
    offset = (2 * np.arange(side) + 1 - first - last) / (last - first)
    offset[(first + last) // 2 if last - first > 1 else first] = 0.0
    return offset * offset


def scene(stream: Stream, ids: Text, boxes_per_image: int) -> MaskScene:
    """Make pictures; of ten objects, seven have a mask and three a box only."""
    seen = detection.scene(stream, ids, boxes_per_image)
    sides = SMALLEST + stream.below(VARIETY, 2 * len(ids)).reshape(-1, 2)
    return MaskScene(seen, sides, stream.happens(0.7, len(seen.image)))


WORLD = World(
    files=("boxes.csv", "masks.csv", "image_labels.csv", "images.csv"),
    scene=scene,
    still=detection.WORLD.still,
    complete=("images.csv",),
)
