"""Made-up pictures for object detection: a class hierarchy, groups, labels that are not exhaustive."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.boxes import confidences, settled, shaken, thrown, within
from evaluator.synthesis.detection_classes import HIERARCHY, LABELS, LINEAGE, NAMES, WEIGHTS
from evaluator.synthesis.draws import MILLION, Bools, Floats, Ints, Stream
from evaluator.synthesis.rows import Text, decimals, lines, names, prediction_strings
from evaluator.synthesis.scene import World

TOPICS = 3
"""Classes that one picture is about; objects share them, so that boxes of one class compete."""
DENIED = 4
"""Classes that somebody looked for in a picture; those that are not there become negative labels."""

_LABEL_CELLS = names(LABELS)
_FLAGS = names(["0", "1"])


@dataclass(frozen=True, slots=True)
class DetectionScene:
    """Pictures with their objects, one entry an object, ascending by picture.

    Attributes
    ----------
    ids : names of the pictures
    attention : int array (pictures, TOPICS + DENIED), classes that a detector may see here, rightly or not
    image, label, box, group : of each object
    positive, negative : picture × class keys (picture × number of classes + class) of verified labels
    """

    ids: Text
    attention: Ints
    image: Ints
    label: Ints
    box: Ints
    group: Bools
    positive: Ints
    negative: Ints

    def truth(self) -> Mapping[str, bytes]:
        """Return lines of boxes, verified labels and images."""
        boxes = lines(
            self.ids[self.image],
            _LABEL_CELLS[self.label],
            *(decimals(self.box[:, edge]) for edge in range(4)),
            _FLAGS[self.group.astype(np.int64)],
        )
        labels = b"".join(
            lines(self.ids[key // len(LABELS)], _LABEL_CELLS[key % len(LABELS)], np.repeat(_FLAGS[flag], len(key)))
            for key, flag in ((self.positive, 1), (self.negative, 0))
        )
        return {"boxes.csv": boxes, "image_labels.csv": labels, "images.csv": lines(self.ids)}

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes, bytes]:
        """Return what a detector of this quality reports."""
        image, label, box, confidence = self.reported(stream, quality=quality)
        cells = (_LABEL_CELLS[label], decimals(confidence))
        x_min, x_max, y_min, y_max = (decimals(box[:, edge]) for edge in range(4))
        strings = prediction_strings(self.ids, image, *cells, x_min, y_min, x_max, y_max)
        return strings, lines(self.ids[image], *cells, x_min, x_max, y_min, y_max)

    def reported(self, stream: Stream, *, quality: float) -> tuple[Ints, Ints, Ints, Ints]:
        """Return image (ascending), label, box and confidence of what is seen; its ancestors are named, too."""
        flaw = 1.0 - quality
        image, label, box, right = (
            np.concatenate(parts)
            for parts in zip(
                self._seen(stream, flaw), self._in_groups(stream, flaw), self._false(stream, flaw), strict=True
            )
        )
        confidence = confidences(stream, right, quality=quality)
        order = np.argsort(image, kind="stable")
        row, named = np.nonzero(LINEAGE[label[order]])
        row = order[row]
        return image[row], named, box[row], confidence[row]

    def _seen(self, stream: Stream, flaw: float) -> tuple[Ints, Ints, Ints, Ints]:
        """Single objects: missed, misplaced, misnamed or reported twice, the more the larger the flaw."""
        ordinary = np.flatnonzero(~self.group)
        found = ordinary[~stream.happens(0.06 + 0.55 * flaw, len(ordinary))]
        twice = found[stream.happens(0.05 + 0.2 * flaw, len(found))]
        row = np.concatenate([found, twice])
        confused = stream.happens(0.3 * flaw, len(row))
        other = self.attention[self.image[row], stream.below(TOPICS, len(row))]
        label = np.where(confused, other, self.label[row])
        right = (label == self.label[row]).astype(np.int64)
        right[len(found) :] = 0
        return self.image[row], label, shaken(stream, self.box[row], by=0.04 + 0.17 * flaw), right

    def _in_groups(self, stream: Stream, flaw: float) -> tuple[Ints, Ints, Ints, Ints]:
        """Of a group, some of its members, each a box of its own."""
        row = np.repeat(np.flatnonzero(self.group), 3)
        row = row[~stream.happens(0.3 + 0.5 * flaw, len(row))]
        box = shaken(stream, within(stream, self.box[row], share=0.4), by=0.1 * flaw)
        return self.image[row], self.label[row], box, np.ones(len(row), dtype=np.int64)

    def _false(self, stream: Stream, flaw: float) -> tuple[Ints, Ints, Ints, Ints]:
        """Boxes around nothing, of classes that are or are not in the picture."""
        count = int(len(self.image) * (0.2 + 1.5 * flaw))
        image = stream.below(len(self.ids), count)
        label = self.attention[image, stream.below(TOPICS + DENIED, count)]
        return image, label, thrown(stream, count), np.zeros(count, dtype=np.int64)


def scene(stream: Stream, ids: Text, boxes_per_image: int) -> DetectionScene:
    """Make pictures: each about a few classes, with up to twice the mean number of objects."""
    counts = stream.counts(boxes_per_image, len(ids))
    image = np.repeat(np.arange(len(ids)), counts)
    topics = stream.pick(WEIGHTS, len(ids) * TOPICS).reshape(-1, TOPICS)
    label = topics[image, stream.pick(np.array([5, 3, 2]), len(image))]
    group = stream.happens(0.06, len(image))
    box = thrown(stream, len(image))
    box[group] = settled(_stretched(box[group]))
    denied = stream.pick(np.ones_like(WEIGHTS), len(ids) * DENIED).reshape(-1, DENIED)
    positive, negative = _verified(stream, image=image, label=label, denied=denied)
    return DetectionScene(
        ids=ids,
        attention=np.concatenate([topics, denied], axis=1),
        image=image,
        label=label,
        box=box,
        group=group,
        positive=positive,
        negative=negative,
    )


def _stretched(box: Ints) -> Floats:
    """Widen groups by half their width on either side."""
    corners = box / MILLION
    half = 0.5 * (corners[:, 1] - corners[:, 0])
    corners[:, 0] -= half
    corners[:, 1] += half
    return corners


def _verified(stream: Stream, *, image: Ints, label: Ints, denied: Ints) -> tuple[Ints, Ints]:
    """Labels somebody checked: most of what is there, and a few that are not and contradict nothing that is."""
    present = np.zeros((len(denied), len(LABELS)), dtype=bool)
    present[image, label] = True
    positive = np.flatnonzero(present)
    positive = positive[~stream.happens(0.1, len(positive))]
    kin = present.astype(np.int64) @ (LINEAGE | LINEAGE.T).astype(np.int64) > 0
    absent = np.zeros_like(present)
    absent[np.arange(len(denied))[:, None], denied] = True
    return positive, np.flatnonzero(absent & ~kin)


WORLD = World(
    files=("boxes.csv", "image_labels.csv", "images.csv"),
    still={"hierarchy.json": HIERARCHY, "classes.csv": "".join(f"{label},{name}\n" for label, name in NAMES.items())},
    scene=scene,
)
