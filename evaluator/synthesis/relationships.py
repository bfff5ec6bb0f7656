"""Generates data for visual relationships, such as "man plays guitar" and "chair is wooden"."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.boxes import boxes_within, confidences, jittered, random_boxes
from evaluator.synthesis.random_stream import Ints, RandomStream
from evaluator.synthesis.synthesizer import Synthesizer
from evaluator.synthesis.text_columns import TextColumn, csv_lines, decimals, encoded, prediction_strings

_CLASSES = {
    "/m/04yx4": "Man",
    "/m/03bt1vf": "Woman",
    "/m/01bl7v": "Boy",
    "/m/05r655": "Girl",
    "/m/0bt9lr": "Dog",
    "/m/01yrx": "Cat",
    "/m/03k3r": "Horse",
    "/m/0bwd_0j": "Elephant",
    "/m/0342h": "Guitar",
    "/m/05r5c": "Piano",
    "/m/07y_7": "Violin",
    "/m/01mzpv": "Chair",
    "/m/04bcr3": "Table",
    "/m/01y9k5": "Desk",
    "/m/0cvnqh": "Bench",
    "/m/03ssj5": "Bed",
    "/m/0k4j": "Car",
    "/m/0199g": "Bicycle",
    "/m/04dr76w": "Bottle",
    "/m/09tvcd": "Wine glass",
    "/m/0hg7b": "Microphone",
    "/m/01940j": "Backpack",
    "/m/080hkjn": "Handbag",
    "/m/05ctyq": "Tennis ball",
}
_ATTRIBUTES = {"/m/083vt": "Wooden", "/m/02gy9n": "Transparent", "/m/05z87": "Plastic", "/m/04lbp": "(made of)Leather"}
_RELATIONS = {
    "is": "is",
    "at": "at",
    "on": "on",
    "holds": "holds",
    "plays": "plays",
    "wears": "wears",
    "hits": "hits",
    "under": "under",
    "inside_of": "inside of",
    "interacts_with": "interacts with",
}
_NAMES = _CLASSES | _ATTRIBUTES

# Each triplet consists of a class, a relation, and a second class or an attribute. The number after the triplet is its
# relative frequency.
_TRIPLETS = (
    ("Table", "is", "Wooden", 8),
    ("Chair", "is", "Wooden", 6),
    ("Chair", "is", "Plastic", 3),
    ("Chair", "is", "(made of)Leather", 2),
    ("Bottle", "is", "Transparent", 4),
    ("Guitar", "is", "Wooden", 3),
    ("Bench", "is", "Wooden", 2),
    ("Handbag", "is", "(made of)Leather", 2),
    ("Chair", "at", "Table", 6),
    ("Man", "at", "Table", 5),
    ("Woman", "at", "Desk", 3),
    ("Man", "on", "Horse", 3),
    ("Woman", "on", "Bicycle", 3),
    ("Cat", "on", "Bed", 2),
    ("Bottle", "on", "Table", 3),
    ("Man", "holds", "Microphone", 3),
    ("Man", "holds", "Guitar", 2),
    ("Woman", "holds", "Wine glass", 3),
    ("Man", "plays", "Guitar", 4),
    ("Girl", "plays", "Piano", 2),
    ("Woman", "plays", "Violin", 2),
    ("Girl", "wears", "Backpack", 3),
    ("Woman", "wears", "Handbag", 3),
    ("Man", "hits", "Tennis ball", 2),
    ("Cat", "under", "Table", 2),
    ("Dog", "under", "Bench", 1),
    ("Dog", "inside_of", "Car", 3),
    ("Woman", "interacts_with", "Dog", 3),
    ("Boy", "interacts_with", "Elephant", 2),
)

TOPICS = 3
"""Number of triplets from which the pairs of an image are drawn. It is small, so that triplets occur several times."""
CHECKED = 4
"""Number of random classes to verify in each image. Those that occur in no pair become negative labels."""

_LABELS = tuple(_NAMES)
_ID = {name: label for label, name in _NAMES.items()}
_FIRST: Ints = np.array([_LABELS.index(_ID[first]) for first, _, _, _ in _TRIPLETS], dtype=np.int64)
_SECOND: Ints = np.array([_LABELS.index(_ID[second]) for _, _, second, _ in _TRIPLETS], dtype=np.int64)
_RELATION: Ints = np.array([list(_RELATIONS).index(relation) for _, relation, _, _ in _TRIPLETS], dtype=np.int64)
_WEIGHTS: Ints = np.array([weight for _, _, _, weight in _TRIPLETS], dtype=np.int64)
_ONE_BOX = np.array([relation == "is" for _, relation, _, _ in _TRIPLETS])
_LABEL_CELLS = encoded(_LABELS)
_RELATION_CELLS = encoded(list(_RELATIONS))


@dataclass(frozen=True, slots=True)
class RelationshipScene:
    """Generated images with their pairs of objects. Arrays of pairs have shape (pairs,) and are sorted by image.

    Attributes
    ----------
    ids : TextColumn
        Ids of the images.
    topics : int64 array of shape (images, TOPICS)
        Triplets that may occur in each image.
    image, triplet, one, two
        For each pair: index of its image, index of its triplet, and the corners of its two boxes.
    verified : int64 array
        Keys (image × number of labels + label) of the verified labels.
    """

    ids: TextColumn
    topics: Ints
    image: Ints
    triplet: Ints
    one: Ints
    two: Ints
    verified: Ints

    def truth(self) -> Mapping[str, bytes]:
        """Return the CSV lines of three ground truth files: the pairs, the verified labels and the images.

        A verified label states whether an image shows a class or an attribute such as "wooden".
        """
        pairs = csv_lines(
            self.ids[self.image],
            *_triplet_cells(self.triplet),
            *(decimals(box[:, edge]) for box in (self.one, self.two) for edge in range(4)),
        )
        present = np.zeros((len(self.ids), len(_LABELS)), dtype=np.int64)
        for side in (_FIRST, _SECOND):
            present[self.image, side[self.triplet]] = 1
        labels = csv_lines(
            self.ids[self.verified // len(_LABELS)],
            _LABEL_CELLS[self.verified % len(_LABELS)],
            encoded(["0", "1"])[present.ravel()[self.verified]],
        )
        return {"relationships.csv": pairs, "image_labels.csv": labels, "images.csv": csv_lines(self.ids)}

    def predictions(self, stream: RandomStream, *, quality: float) -> tuple[bytes, bytes]:
        """Return the predictions of a simulated detector with the given quality, once in each file layout."""
        error_rate = 1.0 - quality
        image, triplet, one, two, right = (
            np.concatenate(parts)
            for parts in zip(self._of_pairs(stream, error_rate), self._false(stream, error_rate), strict=True)
        )
        confidence = confidences(stream, right, quality=quality)
        order = np.argsort(image, kind="stable")
        image, score = image[order], decimals(confidence[order])
        first, second, relation = _triplet_cells(triplet[order])
        box = [[decimals(corners[order, edge]) for edge in range(4)] for corners in (one, two)]
        (x_min1, x_max1, y_min1, y_max1), (x_min2, x_max2, y_min2, y_max2) = box
        pair = (x_min1, y_min1, x_max1, y_max1, second, x_min2, y_min2, x_max2, y_max2)
        strings = prediction_strings(self.ids, image, score, first, *pair, relation)
        return strings, csv_lines(self.ids[image], first, second, relation, score, *box[0], *box[1])

    def _of_pairs(self, stream: RandomStream, error_rate: float) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return predictions for the pairs in the ground truth.

        Some pairs are missed. Some predictions are misplaced, are duplicates, or have the wrong triplet.
        """
        found = np.flatnonzero(~stream.bernoulli(0.06 + 0.6 * error_rate, len(self.image)))
        row = np.concatenate([found, found[stream.bernoulli(0.05 + 0.2 * error_rate, len(found))]])
        image = self.image[row]
        confused = stream.bernoulli(0.3 * error_rate, len(row))
        triplet = np.where(confused, self.topics[image, stream.integers(TOPICS, len(row))], self.triplet[row])
        right = (triplet == self.triplet[row]).astype(np.int64)
        right[len(found) :] = 0
        one, two = (jittered(stream, box[row], by=0.04 + 0.17 * error_rate) for box in (self.one, self.two))
        return image, triplet, one, np.where(_ONE_BOX[triplet][:, None], one, two), right

    def _false(self, stream: RandomStream, error_rate: float) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return false positives, which are predictions at random positions.

        Half of them have a triplet that may occur in the image.
        """
        count = int(len(self.image) * (0.2 + 1.5 * error_rate))
        image = stream.integers(len(self.ids), count)
        likely = self.topics[image, stream.integers(TOPICS, count)]
        triplet = np.where(stream.bernoulli(0.5, count), likely, stream.weighted_indices(_WEIGHTS, count))
        one = random_boxes(stream, count)
        two = np.where(_ONE_BOX[triplet][:, None], one, random_boxes(stream, count))
        return image, triplet, one, two, np.zeros(count, dtype=np.int64)


def _triplet_cells(triplet: Ints) -> tuple[TextColumn, TextColumn, TextColumn]:
    return _LABEL_CELLS[_FIRST[triplet]], _LABEL_CELLS[_SECOND[triplet]], _RELATION_CELLS[_RELATION[triplet]]


def scene(stream: RandomStream, ids: TextColumn, boxes_per_image: int) -> RelationshipScene:
    """Return generated images, each with at most ``TOPICS`` different triplets and ``2 * boxes_per_image`` pairs."""
    counts = stream.counts(boxes_per_image, len(ids))
    image = np.repeat(np.arange(len(ids)), counts)
    topics = stream.weighted_indices(_WEIGHTS, len(ids) * TOPICS).reshape(-1, TOPICS)
    triplet = topics[image, stream.weighted_indices(np.array([5, 3, 2]), len(image))]
    one = random_boxes(stream, len(image))
    beside = jittered(stream, boxes_within(stream, one, share=0.7), by=0.4)
    present = np.zeros((len(ids), len(_LABELS)), dtype=bool)
    for side in (_FIRST, _SECOND):
        present[image, side[triplet]] = True
    checked = present & ~stream.bernoulli(0.1, present.size).reshape(present.shape)
    checked[np.arange(len(ids))[:, None], stream.integers(len(_CLASSES), len(ids) * CHECKED).reshape(-1, CHECKED)] = (
        True
    )
    return RelationshipScene(
        ids=ids,
        topics=topics,
        image=image,
        triplet=triplet,
        one=one,
        two=np.where(_ONE_BOX[triplet][:, None], one, beside),
        verified=np.flatnonzero(checked),
    )


SYNTHESIZER = Synthesizer(
    image_files=("relationships.csv", "image_labels.csv", "images.csv"),
    static_files={
        "classes.csv": "".join(f"{label},{name}\n" for label, name in _NAMES.items()),
        "relations.csv": "".join(f"{relation},{name}\n" for relation, name in _RELATIONS.items()),
    },
    scene=scene,
)
