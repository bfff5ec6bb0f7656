"""Made-up pictures for ObjectNet: one object each, on some background, turned and seen from somewhere."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.draws import MILLION, Bools, Ints, Stream
from evaluator.synthesis.rows import Text, decimals, lines, names
from evaluator.synthesis.scene import World

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
"""Of each value of each control: in how many of a hundred pictures the object can be told at all."""
GUESSES = 5
_CELLS = names([str(number) for number in _IDS])


@dataclass(frozen=True, slots=True)
class ObjectScene:
    """Pictures, one entry each.

    Attributes
    ----------
    ids : names of the pictures
    answer : int array, places among the classes
    control : int array (pictures, 3), how it was taken
    hard : bool array, whether the object can hardly be told
    """

    ids: Text
    answer: Ints
    control: Ints
    hard: Bools

    @property
    def files(self) -> Text:
        """Names of the pictures' files."""
        return np.char.add(self.ids, b".png")

    def truth(self) -> Mapping[str, bytes]:
        """Return the answers, the controls and the files."""
        answers = {file.decode(): int(_IDS[place]) for file, place in zip(self.files, self.answer, strict=True)}
        cells = [names(values)[self.control[:, place]] for place, values in enumerate(_CONTROLS.values())]
        return {
            "answers.json": (json.dumps(answers, indent=0) + "\n").encode(),
            "controls.csv": lines(self.files, *cells),
            "images.csv": lines(self.files),
        }

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes]:
        """Return guesses: the right one first, later or nowhere, the rest other classes."""
        count = len(self.ids)
        first = stream.happens(quality, count) & ~(self.hard & stream.happens(0.5, count))
        later = np.where(stream.happens(0.3 + 0.4 * quality, count), 1 + stream.below(GUESSES - 1, count), GUESSES)
        place = np.where(first, 0, later)  # of the right answer
        cells: list[Text] = []
        for guess in range(GUESSES):
            other = (self.answer + 1 + stream.below(len(_IDS) - 1, count)) % len(_IDS)
            cells.append(_CELLS[np.where(place == guess, self.answer, other)])
            cells.append(decimals((stream.uniform(count) * MILLION / (guess + 1)).astype(np.int64)))
        return (lines(self.files, *cells),)


def scene(stream: Stream, ids: Text, boxes_per_image: int) -> ObjectScene:
    """Make pictures; each holds one object, whatever is asked."""
    answer = stream.below(len(_IDS), len(ids))
    control = stream.below(4, 3 * len(ids)).reshape(-1, 3)
    ease = _EASE[control].prod(axis=1) / 100.0**3
    return ObjectScene(ids, answer, control, stream.uniform(len(ids)) > ease)


WORLD = World(
    files=("answers.json", "controls.csv", "images.csv"),
    still={"classes.csv": "".join(f"{number},{name}\n" for number, name in _NAMES.items())},
    scene=scene,
    whole=True,
)
