"""Generates data for object detection, with a class hierarchy, group-of boxes and partly verified labels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.boxes import boxes_within, clipped, confidences, jittered, random_boxes
from evaluator.synthesis.detection_classes import HIERARCHY, LABELS, LINEAGE, NAMES, WEIGHTS
from evaluator.synthesis.random_stream import MILLION, Bools, Floats, Ints, RandomStream
from evaluator.synthesis.synthesizer import Synthesizer
from evaluator.synthesis.text_columns import TextColumn, csv_lines, decimals, encoded, prediction_strings

TOPICS = 3
"""Number of classes from which the objects of an image are drawn. It is small, so that classes occur several times."""
CHECKED = 4
"""Number of random classes to verify in each image. Those that the image does not show become negative labels."""

_LABEL_CELLS = encoded(LABELS)
_FLAGS = encoded(["0", "1"])


@dataclass(frozen=True, slots=True)
class DetectionScene:
    """Generated images with their objects. Arrays of objects have shape (objects,) and are sorted by image.

    Attributes
    ----------
    ids : TextColumn
        Ids of the images.
    candidates : int64 array of shape (images, TOPICS + CHECKED)
        Classes that the simulated detector may predict in an image.
    image, label, box, group
        For each object: index of its image, index of its class, corners of its box, and whether the object is a group.
    positive, negative : int64 arrays
        Keys (image × number of classes + class) of the labels verified as present and as absent.
    """

    ids: TextColumn
    candidates: Ints
    image: Ints
    label: Ints
    box: Ints
    group: Bools
    positive: Ints
    negative: Ints

    def truth(self) -> Mapping[str, bytes]:
        """Return the CSV lines of three ground truth files: the boxes, the verified labels and the images.

        A verified label states whether an image shows a class.
        """
        boxes = csv_lines(
            self.ids[self.image],
            _LABEL_CELLS[self.label],
            *(decimals(self.box[:, edge]) for edge in range(4)),
            _FLAGS[self.group.astype(np.int64)],
        )
        labels = b"".join(
            csv_lines(self.ids[key // len(LABELS)], _LABEL_CELLS[key % len(LABELS)], np.repeat(_FLAGS[flag], len(key)))
            for key, flag in ((self.positive, 1), (self.negative, 0))
        )
        return {"boxes.csv": boxes, "image_labels.csv": labels, "images.csv": csv_lines(self.ids)}

    def predictions(self, stream: RandomStream, *, quality: float) -> tuple[bytes, bytes]:
        """Return the predictions of a simulated detector with the given quality, once in each file layout."""
        image, label, box, confidence = self.detections(stream, quality=quality)
        cells = (_LABEL_CELLS[label], decimals(confidence))
        x_min, x_max, y_min, y_max = (decimals(box[:, edge]) for edge in range(4))
        strings = prediction_strings(self.ids, image, *cells, x_min, y_min, x_max, y_max)
        return strings, csv_lines(self.ids[image], *cells, x_min, x_max, y_min, y_max)

    def detections(self, stream: RandomStream, *, quality: float) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the images, labels, boxes and confidences of all predictions, sorted by image.

        Each prediction is repeated for every ancestor of its class, with the label of the ancestor.
        """
        error_rate = 1.0 - quality
        image, label, box, right = (
            np.concatenate(parts)
            for parts in zip(
                self._of_objects(stream, error_rate),
                self._of_groups(stream, error_rate),
                self._false(stream, error_rate),
                strict=True,
            )
        )
        confidence = confidences(stream, right, quality=quality)
        order = np.argsort(image, kind="stable")
        row, copies = np.nonzero(LINEAGE[label[order]])
        row = order[row]
        return image[row], copies, box[row], confidence[row]

    def _of_objects(self, stream: RandomStream, error_rate: float) -> tuple[Ints, Ints, Ints, Ints]:
        """Return predictions for the objects that are not groups.

        Some objects are missed. Some predictions are misplaced, are duplicates, or have the wrong class.
        """
        ordinary = np.flatnonzero(~self.group)
        found = ordinary[~stream.bernoulli(0.06 + 0.55 * error_rate, len(ordinary))]
        twice = found[stream.bernoulli(0.05 + 0.2 * error_rate, len(found))]
        row = np.concatenate([found, twice])
        confused = stream.bernoulli(0.3 * error_rate, len(row))
        other = self.candidates[self.image[row], stream.integers(TOPICS, len(row))]
        label = np.where(confused, other, self.label[row])
        right = (label == self.label[row]).astype(np.int64)
        right[len(found) :] = 0
        return self.image[row], label, jittered(stream, self.box[row], by=0.04 + 0.17 * error_rate), right

    def _of_groups(self, stream: RandomStream, error_rate: float) -> tuple[Ints, Ints, Ints, Ints]:
        """Return up to three predictions inside each group-of box. They simulate detections of members of the group."""
        row = np.repeat(np.flatnonzero(self.group), 3)
        row = row[~stream.bernoulli(0.3 + 0.5 * error_rate, len(row))]
        box = jittered(stream, boxes_within(stream, self.box[row], share=0.4), by=0.1 * error_rate)
        return self.image[row], self.label[row], box, np.ones(len(row), dtype=np.int64)

    def _false(self, stream: RandomStream, error_rate: float) -> tuple[Ints, Ints, Ints, Ints]:
        """Return synthesized false positives, which are predictions at random positions."""
        count = int(len(self.image) * (0.2 + 1.5 * error_rate))
        image = stream.integers(len(self.ids), count)
        label = self.candidates[image, stream.integers(TOPICS + CHECKED, count)]
        return image, label, random_boxes(stream, count), np.zeros(count, dtype=np.int64)


def scene(stream: RandomStream, ids: TextColumn, boxes_per_image: int) -> DetectionScene:
    """Return generated images with objects of a few classes, at most twice ``boxes_per_image`` objects per image."""
    counts = stream.counts(boxes_per_image, len(ids))
    image = np.repeat(np.arange(len(ids)), counts)
    topics = stream.weighted_indices(WEIGHTS, len(ids) * TOPICS).reshape(-1, TOPICS)
    label = topics[image, stream.weighted_indices(np.array([5, 3, 2]), len(image))]
    group = stream.bernoulli(0.06, len(image))
    box = random_boxes(stream, len(image))
    box[group] = clipped(_widened(box[group]))
    checked = stream.weighted_indices(np.ones_like(WEIGHTS), len(ids) * CHECKED).reshape(-1, CHECKED)
    positive, negative = _verified(stream, image=image, label=label, checked=checked)
    return DetectionScene(
        ids=ids,
        candidates=np.concatenate([topics, checked], axis=1),
        image=image,
        label=label,
        box=box,
        group=group,
        positive=positive,
        negative=negative,
    )


def _widened(box: Ints) -> Floats:
    """Return the corners of group-of boxes after moving the left and right edges outwards by half the box width."""
    corners = box / MILLION
    half = 0.5 * (corners[:, 1] - corners[:, 0])
    corners[:, 0] -= half
    corners[:, 1] += half
    return corners


def _verified(stream: RandomStream, *, image: Ints, label: Ints, checked: Ints) -> tuple[Ints, Ints]:
    """Return the keys of the labels verified as present and of those verified as absent.

    A key encodes an image and a class. Most classes of the objects in an image are verified as present. ``checked``
    contains random classes for each image. Each of them is verified as absent if the image shows neither this class nor
    any ancestor or descendant of it.
    """
    present = np.zeros((len(checked), len(LABELS)), dtype=bool)
    present[image, label] = True
    positive = np.flatnonzero(present)
    positive = positive[~stream.bernoulli(0.1, len(positive))]
    related = present.astype(np.int64) @ (LINEAGE | LINEAGE.T).astype(np.int64) > 0
    absent = np.zeros_like(present)
    absent[np.arange(len(checked))[:, None], checked] = True
    return positive, np.flatnonzero(absent & ~related)


SYNTHESIZER = Synthesizer(
    image_files=("boxes.csv", "image_labels.csv", "images.csv"),
    static_files={
        "hierarchy.json": HIERARCHY,
        "classes.csv": "".join(f"{label},{name}\n" for label, name in NAMES.items()),
    },
    scene=scene,
)
