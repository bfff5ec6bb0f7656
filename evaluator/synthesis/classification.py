"""Generates data for image-level classification. Each image shows only a few of the classes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.detection_classes import HIERARCHY, LABELS, LINEAGE, NAMES, WEIGHTS
from evaluator.synthesis.random_stream import MILLION, Bools, Ints, RandomStream
from evaluator.synthesis.synthesizer import Synthesizer
from evaluator.synthesis.text_columns import TextColumn, csv_lines, decimals, encoded, prediction_strings

CHECKED = 24
"""Number of random classes to verify in each image. Those that the image does not show become negative labels."""

_LABEL_CELLS = encoded(LABELS)
_FLAGS = encoded(["0", "1"])


@dataclass(frozen=True, slots=True)
class LabelScene:
    """Generated images and the classes that they show.

    Attributes
    ----------
    ids : TextColumn
        Ids of the images.
    present : bool array of shape (images, classes)
        Whether an image shows a class or one of its descendants.
    positive, negative : int64 arrays
        Sorted keys (image × number of classes + class) of the labels verified as present and as absent.
    """

    ids: TextColumn
    present: Bools
    positive: Ints
    negative: Ints

    def truth(self) -> Mapping[str, bytes]:
        """Return the CSV lines of two ground truth files: the verified labels and the images.

        A verified label states whether an image shows a class.
        """
        labels = b"".join(
            csv_lines(self.ids[key // len(LABELS)], _LABEL_CELLS[key % len(LABELS)], np.repeat(_FLAGS[flag], len(key)))
            for key, flag in ((self.positive, 1), (self.negative, 0))
        )
        return {"image_labels.csv": labels, "images.csv": csv_lines(self.ids)}

    def predictions(self, stream: RandomStream, *, quality: float) -> tuple[bytes, bytes]:
        """Return confidences for most classes in each image, once in each file layout.

        A fraction ``quality`` of the confidences is high for classes that the image shows and low for the other
        classes. The remaining confidences are random.
        """
        predicted = ~stream.bernoulli(0.1, self.present.size).reshape(self.present.shape)
        image, label = np.nonzero(predicted)
        right = self.present[image, label]
        informed = stream.bernoulli(quality, len(image))
        uninformed, half = stream.uniform(len(image)), stream.uniform(len(image)) / 2
        confidence = np.where(informed, np.where(right, 0.5 + half, half), uninformed)
        cells = _LABEL_CELLS[label], decimals((confidence * MILLION).astype(np.int64))
        return prediction_strings(self.ids, image, *cells), csv_lines(self.ids[image], *cells)


def scene(stream: RandomStream, ids: TextColumn, boxes_per_image: int) -> LabelScene:
    """Generate images. Each shows at least one class; the mean number of classes is about half ``boxes_per_image``."""
    counts = np.maximum(stream.counts(boxes_per_image, len(ids)) // 2, 1)
    image = np.repeat(np.arange(len(ids)), counts)
    seen = np.zeros((len(ids), len(LABELS)), dtype=bool)
    seen[image, stream.weighted_indices(WEIGHTS, len(image))] = True
    lineage = LINEAGE.astype(np.int64)
    present = seen.astype(np.int64) @ lineage > 0
    positive = np.flatnonzero(seen)
    kept = ~stream.bernoulli(0.1, len(positive))
    absent = np.zeros_like(seen)
    checked = stream.integers(len(LABELS), len(ids) * CHECKED).reshape(-1, CHECKED)
    absent[np.arange(len(ids))[:, None], checked] = True
    return LabelScene(ids, present, positive[kept], np.flatnonzero(absent & ~present))


SYNTHESIZER = Synthesizer(
    image_files=("image_labels.csv", "images.csv"),
    static_files={
        "hierarchy.json": HIERARCHY,
        "classes.csv": "".join(f"{label},{name}\n" for label, name in NAMES.items()),
    },
    scene=scene,
)
