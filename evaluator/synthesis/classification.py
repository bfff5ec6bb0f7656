"""Made-up pictures for image-level classification: a few classes each, and many more that somebody looked for."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.detection_classes import HIERARCHY, LABELS, LINEAGE, NAMES, WEIGHTS
from evaluator.synthesis.draws import MILLION, Bools, Ints, Stream
from evaluator.synthesis.rows import Text, decimals, lines, names, prediction_strings
from evaluator.synthesis.scene import World

DENIED = 24
"""Classes that somebody looked for in a picture; those that are not there become negative labels."""

_LABEL_CELLS = names(LABELS)
_FLAGS = names(["0", "1"])


@dataclass(frozen=True, slots=True)
class LabelScene:
    """Pictures and what is in them.

    Attributes
    ----------
    ids : names of the pictures
    present : bool array (pictures, classes), ancestors included
    positive, negative : sorted picture × class keys of verified labels
    """

    ids: Text
    present: Bools
    positive: Ints
    negative: Ints

    def truth(self) -> Mapping[str, bytes]:
        """Return lines of verified labels and images."""
        labels = b"".join(
            lines(self.ids[key // len(LABELS)], _LABEL_CELLS[key % len(LABELS)], np.repeat(_FLAGS[flag], len(key)))
            for key, flag in ((self.positive, 1), (self.negative, 0))
        )
        return {"image_labels.csv": labels, "images.csv": lines(self.ids)}

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes, bytes]:
        """Return confidences for most classes: high for what is there, low for what is not, as the quality says."""
        said = ~stream.happens(0.1, self.present.size).reshape(self.present.shape)
        image, label = np.nonzero(said)
        right = self.present[image, label]
        told = stream.happens(quality, len(image))
        anything, half = stream.uniform(len(image)), stream.uniform(len(image)) / 2
        confidence = np.where(told, np.where(right, 0.5 + half, half), anything)
        cells = _LABEL_CELLS[label], decimals((confidence * MILLION).astype(np.int64))
        return prediction_strings(self.ids, image, *cells), lines(self.ids[image], *cells)


def scene(stream: Stream, ids: Text, boxes_per_image: int) -> LabelScene:
    """Make pictures; each shows about half as many classes as boxes are asked for, and one at least."""
    counts = np.maximum(stream.counts(boxes_per_image, len(ids)) // 2, 1)
    image = np.repeat(np.arange(len(ids)), counts)
    seen = np.zeros((len(ids), len(LABELS)), dtype=bool)
    seen[image, stream.pick(WEIGHTS, len(image))] = True
    lineage = LINEAGE.astype(np.int64)
    present = seen.astype(np.int64) @ lineage > 0
    positive = np.flatnonzero(seen)
    kept = ~stream.happens(0.1, len(positive))
    absent = np.zeros_like(seen)
    denied = stream.below(len(LABELS), len(ids) * DENIED).reshape(-1, DENIED)
    absent[np.arange(len(ids))[:, None], denied] = True
    return LabelScene(ids, present, positive[kept], np.flatnonzero(absent & ~present))


WORLD = World(
    files=("image_labels.csv", "images.csv"),
    still={"hierarchy.json": HIERARCHY, "classes.csv": "".join(f"{label},{name}\n" for label, name in NAMES.items())},
    scene=scene,
)
