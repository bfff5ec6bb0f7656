"""Generates data for instance segmentation: the detection data, plus elliptical masks in most boxes."""

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pycocotools import mask as coco

from evaluator.synthesis import detection
from evaluator.synthesis.detection import DetectionScene
from evaluator.synthesis.detection_classes import LABELS
from evaluator.synthesis.random_stream import MILLION, Bools, Ints, RandomStream
from evaluator.synthesis.synthesizer import Synthesizer
from evaluator.synthesis.text_columns import TextColumn, csv_lines, decimals, encoded, prediction_strings

SMALLEST, VARIETY = 40, 40
"""The smallest side length of an image in pixels, and the number of different side lengths."""

_LABEL_CELLS = encoded(LABELS)
_FLAGS = encoded(["0", "1"])
_SIDES = encoded([str(number) for number in range(SMALLEST + VARIETY)])


@dataclass(frozen=True, slots=True)
class MaskScene:
    """Generated images for the detection track, with image sizes, and with masks for some of the objects.

    Attributes
    ----------
    detections : DetectionScene
        The images and their objects.
    sides : int64 array of shape (images, 2)
        Width and height in pixels.
    masked : bool array of shape (objects,)
        Whether an object has a mask.
    """

    detections: DetectionScene
    sides: Ints
    masked: Bools

    def truth(self) -> Mapping[str, bytes]:
        """Return the CSV lines of four ground truth files: the boxes, the masks, the verified labels and the images.

        A verified label states whether an image shows a class.
        """
        scene, mine = self.detections, np.flatnonzero(self.masked)
        image = scene.image[mine]
        masks = csv_lines(
            scene.ids[image],
            _LABEL_CELLS[scene.label[mine]],
            *self._sizes(image),
            *(decimals(scene.box[mine, edge]) for edge in range(4)),
            _FLAGS[scene.group[mine].astype(np.int64)],
            self._masks(image, scene.box[mine]),
        )
        every = np.arange(len(scene.ids))
        return {**scene.truth(), "masks.csv": masks, "images.csv": csv_lines(scene.ids, *self._sizes(every))}

    def predictions(self, stream: RandomStream, *, quality: float) -> tuple[bytes, bytes]:
        """Return the predictions of a simulated detector with the given quality. Masks are ellipses in the boxes."""
        image, label, box, confidence = self.detections.detections(stream, quality=quality)
        cells = (_LABEL_CELLS[label], decimals(confidence), self._masks(image, box))
        every = np.arange(len(self.detections.ids))
        heads = np.array([b",".join(row) for row in zip(self.detections.ids, *self._sizes(every), strict=True)])
        return prediction_strings(heads, image, *cells), csv_lines(
            self.detections.ids[image], *self._sizes(image), *cells
        )

    def _sizes(self, image: Ints) -> tuple[TextColumn, TextColumn]:
        return _SIDES[self.sides[image, 0]], _SIDES[self.sides[image, 1]]

    def _masks(self, image: Ints, boxes: Ints) -> TextColumn:
        """Return masks as base64 strings. Each mask is an ellipse inside a box, and covers at least one pixel."""
        texts = []
        for (width, height), (x_min, x_max, y_min, y_max) in zip(
            self.sides[image].tolist(), boxes.tolist(), strict=True
        ):
            across, down = _span(x_min, x_max, width), _span(y_min, y_max, height)
            pixels = (across[None, :] + down[:, None] <= 1.0).astype(np.uint8)
            compressed = coco.encode(np.asfortranarray(pixels))["counts"]
            # Compression level 0 is used, because the output of other levels depends on the version of zlib.
            texts.append(base64.b64encode(zlib.compress(compressed, 0)))
        return np.array(texts, dtype=np.bytes_)


def _span(low: int, high: int, side: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the squared distance of each pixel from the center of a box along one axis.

    Distances are divided by half the side length of the box.
    """
    first, last = low * side // MILLION, max(high * side // MILLION, low * side // MILLION + 1)
    offset = (2 * np.arange(side) + 1 - first - last) / (last - first)
    offset[(first + last) // 2 if last - first > 1 else first] = 0.0
    return offset * offset


def scene(stream: RandomStream, ids: TextColumn, boxes_per_image: int) -> MaskScene:
    """Return generated images. About 70% of the objects have a mask. The other objects have only a box."""
    detections = detection.scene(stream, ids, boxes_per_image)
    sides = SMALLEST + stream.integers(VARIETY, 2 * len(ids)).reshape(-1, 2)
    return MaskScene(detections, sides, stream.bernoulli(0.7, len(detections.image)))


SYNTHESIZER = Synthesizer(
    image_files=("boxes.csv", "masks.csv", "image_labels.csv", "images.csv"),
    scene=scene,
    static_files=detection.SYNTHESIZER.static_files,
    with_optional_columns=("images.csv",),
)
