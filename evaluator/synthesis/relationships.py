"""Made-up pictures for visual relationships: man plays guitar, chair is wooden."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.boxes import confidences, shaken, thrown, within
from evaluator.synthesis.draws import Ints, Stream
from evaluator.synthesis.rows import Text, decimals, lines, names, prediction_strings
from evaluator.synthesis.scene import World

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

# first, relation, second, how often
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
"""Triplets that one picture is about."""
DENIED = 4
"""Classes that somebody looked for in a picture; those that are in no pair act as negative."""

_LABELS = tuple(_NAMES)
_ID = {name: label for label, name in _NAMES.items()}
_FIRST: Ints = np.array([_LABELS.index(_ID[first]) for first, _, _, _ in _TRIPLETS], dtype=np.int64)
_SECOND: Ints = np.array([_LABELS.index(_ID[second]) for _, _, second, _ in _TRIPLETS], dtype=np.int64)
_RELATION: Ints = np.array([list(_RELATIONS).index(relation) for _, relation, _, _ in _TRIPLETS], dtype=np.int64)
_WEIGHTS: Ints = np.array([weight for _, _, _, weight in _TRIPLETS], dtype=np.int64)
_ONE_BOX = np.array([relation == "is" for _, relation, _, _ in _TRIPLETS])
_LABEL_CELLS = names(_LABELS)
_RELATION_CELLS = names(list(_RELATIONS))


@dataclass(frozen=True, slots=True)
class RelationshipScene:
    """Pictures with their pairs, one entry a pair, ascending by picture.

    Attributes
    ----------
    ids : names of the pictures
    topics : int array (pictures, TOPICS), triplets that may be seen here
    image, triplet, one, two : of each pair; ``one`` and ``two`` are boxes
    verified : picture × class keys (picture × number of labels + class)
    """

    ids: Text
    topics: Ints
    image: Ints
    triplet: Ints
    one: Ints
    two: Ints
    verified: Ints

    def truth(self) -> Mapping[str, bytes]:
        """Return lines of pairs, verified labels and images."""
        pairs = lines(
            self.ids[self.image],
            *_triplet_cells(self.triplet),
            *(decimals(box[:, edge]) for box in (self.one, self.two) for edge in range(4)),
        )
        present = np.zeros((len(self.ids), len(_LABELS)), dtype=np.int64)
        for side in (_FIRST, _SECOND):
            present[self.image, side[self.triplet]] = 1
        labels = lines(
            self.ids[self.verified // len(_LABELS)],
            _LABEL_CELLS[self.verified % len(_LABELS)],
            names(["0", "1"])[present.ravel()[self.verified]],
        )
        return {"relationships.csv": pairs, "image_labels.csv": labels, "images.csv": lines(self.ids)}

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes, bytes]:
        """Return what a detector of this quality reports."""
        flaw = 1.0 - quality
        image, triplet, one, two, right = (
            np.concatenate(parts) for parts in zip(self._seen(stream, flaw), self._false(stream, flaw), strict=True)
        )
        confidence = confidences(stream, right, quality=quality)
        order = np.argsort(image, kind="stable")
        image, sure = image[order], decimals(confidence[order])
        first, second, relation = _triplet_cells(triplet[order])
        box = [[decimals(corners[order, edge]) for edge in range(4)] for corners in (one, two)]
        (x_min1, x_max1, y_min1, y_max1), (x_min2, x_max2, y_min2, y_max2) = box
        pair = (x_min1, y_min1, x_max1, y_max1, second, x_min2, y_min2, x_max2, y_max2)
        strings = prediction_strings(self.ids, image, sure, first, *pair, relation)
        return strings, lines(self.ids[image], first, second, relation, sure, *box[0], *box[1])

    def _seen(self, stream: Stream, flaw: float) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Pairs: missed, misplaced, misread or reported twice, the more the larger the flaw."""
        found = np.flatnonzero(~stream.happens(0.06 + 0.6 * flaw, len(self.image)))
        row = np.concatenate([found, found[stream.happens(0.05 + 0.2 * flaw, len(found))]])
        image = self.image[row]
        confused = stream.happens(0.3 * flaw, len(row))
        triplet = np.where(confused, self.topics[image, stream.below(TOPICS, len(row))], self.triplet[row])
        right = (triplet == self.triplet[row]).astype(np.int64)
        right[len(found) :] = 0
        one, two = (shaken(stream, box[row], by=0.04 + 0.17 * flaw) for box in (self.one, self.two))
        return image, triplet, one, np.where(_ONE_BOX[triplet][:, None], one, two), right

    def _false(self, stream: Stream, flaw: float) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Pairs that are not there; half of them of a kind that the picture shows elsewhere."""
        count = int(len(self.image) * (0.2 + 1.5 * flaw))
        image = stream.below(len(self.ids), count)
        likely = self.topics[image, stream.below(TOPICS, count)]
        triplet = np.where(stream.happens(0.5, count), likely, stream.pick(_WEIGHTS, count))
        one = thrown(stream, count)
        two = np.where(_ONE_BOX[triplet][:, None], one, thrown(stream, count))
        return image, triplet, one, two, np.zeros(count, dtype=np.int64)


def _triplet_cells(triplet: Ints) -> tuple[Text, Text, Text]:
    return _LABEL_CELLS[_FIRST[triplet]], _LABEL_CELLS[_SECOND[triplet]], _RELATION_CELLS[_RELATION[triplet]]


def scene(stream: Stream, ids: Text, boxes_per_image: int) -> RelationshipScene:
    """Make pictures: each about a few triplets, with up to twice the mean number of pairs."""
    counts = stream.counts(boxes_per_image, len(ids))
    image = np.repeat(np.arange(len(ids)), counts)
    topics = stream.pick(_WEIGHTS, len(ids) * TOPICS).reshape(-1, TOPICS)
    triplet = topics[image, stream.pick(np.array([5, 3, 2]), len(image))]
    one = thrown(stream, len(image))
    beside = shaken(stream, within(stream, one, share=0.7), by=0.4)
    present = np.zeros((len(ids), len(_LABELS)), dtype=bool)
    for side in (_FIRST, _SECOND):
        present[image, side[triplet]] = True
    checked = present & ~stream.happens(0.1, present.size).reshape(present.shape)
    checked[np.arange(len(ids))[:, None], stream.below(len(_CLASSES), len(ids) * DENIED).reshape(-1, DENIED)] = True
    return RelationshipScene(
        ids=ids,
        topics=topics,
        image=image,
        triplet=triplet,
        one=one,
        two=np.where(_ONE_BOX[triplet][:, None], one, beside),
        verified=np.flatnonzero(checked),
    )


WORLD = World(
    files=("relationships.csv", "image_labels.csv", "images.csv"),
    still={
        "classes.csv": "".join(f"{label},{name}\n" for label, name in _NAMES.items()),
        "relations.csv": "".join(f"{relation},{name}\n" for relation, name in _RELATIONS.items()),
    },
    scene=scene,
)
