"""Generates data for ObjectNet. Each image shows one object with a background, a rotation and a viewpoint."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.random_stream import MILLION, Bools, Ints, RandomStream
from evaluator.synthesis.synthesizer import Synthesizer
from evaluator.synthesis.text_columns import TextColumn, csv_lines, decimals, encoded

_NAMES = {
    4: "Air freshener",
    12: "Backpack",
    20: "Banana",
    31: "Bench",
    47: "Book",
    59: "Broom",
    67: "Candle",
    84: "Chair",
    102: "Coffee mug",
    115: "Desk lamp",
    138: "Drill",
    154: "Hair dryer",
    171: "Hammer",
    189: "Laptop",
    203: "Microwave",
    220: "Oven mitt",
    241: "Pillow",
    276: "Sock",
    290: "Tea pot",
    310: "Wine bottle",
}
_IDS: Ints = np.array(list(_NAMES), dtype=np.int64)
_CONTROLS = {
    "background": ("bathroom", "bedroom", "kitchen", "living room"),
    "rotation": ("0", "90", "180", "270"),
    "viewpoint": ("bottom", "front", "side", "top"),
}
_EASE: Ints = np.array([90, 100, 80, 70])
"""Percentage of images with an easily recognized object, by value of the background, rotation or viewpoint."""
GUESSES = 5
_CELLS = encoded([str(number) for number in _IDS])


@dataclass(frozen=True, slots=True)
class ObjectScene:
    """Generated images with one object each.

    Attributes
    ----------
    ids : TextColumn
        Ids of the images.
    answer : int64 array of shape (images,)
        Index of the correct class.
    control : int64 array of shape (images, 3)
        Index of the value of each control. A control is a condition under which an image was taken, such as the
        background.
    hard : bool array of shape (images,)
        Whether the object is hard to recognize.
    """

    ids: TextColumn
    answer: Ints
    control: Ints
    hard: Bools

    @property
    def files(self) -> TextColumn:
        """The file names of the synthesized images."""
        return np.char.add(self.ids, b".png")

    def truth(self) -> Mapping[str, bytes]:
        """Return the content of three ground truth files: the answers, the controls and the list of image files."""
        answers = {file.decode(): int(_IDS[answer]) for file, answer in zip(self.files, self.answer, strict=True)}
        cells = [encoded(values)[self.control[:, index]] for index, values in enumerate(_CONTROLS.values())]
        return {
            "answers.json": (json.dumps(answers, indent=0) + "\n").encode(),
            "controls.csv": csv_lines(self.files, *cells),
            "images.csv": csv_lines(self.files),
        }

    def predictions(self, stream: RandomStream, *, quality: float) -> tuple[bytes]:
        """Return guesses for each image. The correct class may be the first guess, a later guess, or missing."""
        count = len(self.ids)
        first = stream.bernoulli(quality, count) & ~(self.hard & stream.bernoulli(0.5, count))
        later = np.where(stream.bernoulli(0.3 + 0.4 * quality, count), 1 + stream.integers(GUESSES - 1, count), GUESSES)
        # Index of the correct class among the guesses for each image; GUESSES if it is missing.
        rank = np.where(first, 0, later)
        cells: list[TextColumn] = []
        for guess in range(GUESSES):
            other = (self.answer + 1 + stream.integers(len(_IDS) - 1, count)) % len(_IDS)
            cells.append(_CELLS[np.where(rank == guess, self.answer, other)])
            cells.append(decimals((stream.uniform(count) * MILLION / (guess + 1)).astype(np.int64)))
        return (csv_lines(self.files, *cells),)


def scene(stream: RandomStream, ids: TextColumn, boxes_per_image: int) -> ObjectScene:
    """Return generated images. Each image shows one object, so ``boxes_per_image`` has no effect."""
    answer = stream.integers(len(_IDS), len(ids))
    control = stream.integers(4, 3 * len(ids)).reshape(-1, 3)
    ease = _EASE[control].prod(axis=1) / 100.0**3
    return ObjectScene(ids, answer, control, stream.uniform(len(ids)) > ease)


SYNTHESIZER = Synthesizer(
    image_files=("answers.json", "controls.csv", "images.csv"),
    static_files={"classes.csv": "".join(f"{number},{name}\n" for number, name in _NAMES.items())},
    scene=scene,
    single_scene=True,
)
