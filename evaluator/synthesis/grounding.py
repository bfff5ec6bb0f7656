"""Made-up pictures for phrase grounding: things with boxes, and sentences whose phrases speak of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.boxes import shaken, thrown
from evaluator.synthesis.draws import MILLION, Bools, Ints, Stream
from evaluator.synthesis.rows import Text, lines
from evaluator.synthesis.scene import World

WIDTH, HEIGHT = 500, 375
SENTENCES = 2
_THINGS = (
    ("people", "a man", "a woman", "two children"),
    ("clothing", "a red jacket", "his hat", "striped trousers"),
    ("bodyparts", "her hair", "his hands", "a bare foot"),
    ("animals", "a brown dog", "two horses", "a bird"),
    ("vehicles", "a bicycle", "an old car", "a boat"),
    ("instruments", "a guitar", "the drums", "a violin"),
    ("scene", "the street", "a field", "the beach"),
    ("other", "a ball", "the table", "a tall building"),
)
_OFTEN: Ints = np.array([8, 4, 2, 2, 1, 1, 3, 6])
MOST_BOXES = 3
GUESSES = 10


@dataclass(frozen=True, slots=True)
class PhraseScene:
    """Pictures with their phrases, one entry each, ascending by picture and sentence.

    Attributes
    ----------
    ids : names of the pictures
    image, sentence, kind, words : of each phrase
    boxes : int array (phrases, MOST_BOXES, 4), pixels as x1, y1, x2, y2
    told : bool array (phrases, MOST_BOXES), which of them there are; the first always is
    """

    ids: Text
    image: Ints
    sentence: Ints
    kind: Ints
    words: Ints
    boxes: Ints
    told: Bools

    def truth(self) -> Mapping[str, bytes]:
        """Return lines of phrases and images."""
        ids, rows, index, before = self.ids.tolist(), [], 0, (-1, -1)
        for row, image in enumerate(self.image.tolist()):
            sentence = int(self.sentence[row])
            index = index + 1 if before == (image, sentence) else 0
            before = image, sentence
            name, *phrases = _THINGS[self.kind[row]]
            phrase = {
                "image_id": ids[image].decode(),
                "sentence_id": sentence,
                "phrase_index": index,
                "phrase": phrases[self.words[row]],
                "phrase_id": str(row),
                "types": [name],
                "boxes": self.boxes[row][self.told[row]].tolist(),
                "width": WIDTH,
                "height": HEIGHT,
            }
            rows.append(json.dumps(phrase) + "\n")
        return {"phrases.jsonl": "".join(rows).encode(), "images.csv": lines(self.ids)}

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes]:
        """Return lists of boxes: one that is near at some place of the list, the rest somewhere."""
        count, flaw = len(self.image), 1.0 - quality
        near = _pixels(shaken(stream, _millionths(_around(self.boxes, self.told)), by=0.02 + 0.12 * flaw))
        first = stream.happens(quality, count)
        rank = np.where(first, 0, 1 + stream.below(2 * GUESSES, count))
        somewhere = _pixels(thrown(stream, count * GUESSES)).reshape(count, GUESSES, 4)
        somewhere[rank < GUESSES, rank[rank < GUESSES]] = near[rank < GUESSES]
        entries: dict[tuple[int, int], list[object]] = {}
        for image, sentence, boxes in zip(self.image.tolist(), self.sentence.tolist(), somewhere.tolist(), strict=True):
            entries.setdefault((image, sentence), []).append(boxes)
        ids = self.ids.tolist()
        written = (
            json.dumps({"image_id": ids[image].decode(), "sentence_id": sentence, "boxes": boxes})
            for (image, sentence), boxes in entries.items()
        )
        return (("[\n" + ",\n".join(written) + "\n]\n").encode(),)


def _around(boxes: Ints, told: Bools) -> Ints:
    """Return the box around each phrase's boxes."""
    shown = told[:, :, None]
    low = np.where(shown, boxes, MILLION).min(axis=1)
    high = np.where(shown, boxes, -1).max(axis=1)
    return np.concatenate([low[:, :2], high[:, 2:]], axis=1)


def _pixels(boxes: Ints) -> Ints:
    """Return boxes in millionths (x1, x2, y1, y2) as pixels (x1, y1, x2, y2), none of them empty."""
    low = boxes[:, [0, 2]] * np.array([WIDTH - 1, HEIGHT - 1]) // MILLION
    high = boxes[:, [1, 3]] * np.array([WIDTH - 1, HEIGHT - 1]) // MILLION
    return np.concatenate([low, np.maximum(high, low + 1)], axis=1)


def _millionths(boxes: Ints) -> Ints:
    size = np.array([WIDTH, WIDTH, HEIGHT, HEIGHT])
    return np.asarray(boxes[:, [0, 2, 1, 3]] * MILLION // size)


def scene(stream: Stream, ids: Text, boxes_per_image: int) -> PhraseScene:
    """Make pictures with sentences; a picture has about as many phrases as boxes are asked for, and one at least."""
    counts = np.maximum(stream.counts(boxes_per_image, len(ids)), 1)
    image = np.repeat(np.arange(len(ids)), counts)
    sentence = stream.below(SENTENCES, len(image))
    order = np.lexsort((sentence, image))
    boxes = _pixels(thrown(stream, len(image) * MOST_BOXES)).reshape(-1, MOST_BOXES, 4)
    told = stream.happens(0.15, boxes[:, :, 0].size).reshape(-1, MOST_BOXES)
    told[:, 0] = True
    return PhraseScene(
        ids=ids,
        image=image[order],
        sentence=sentence[order],
        kind=stream.pick(_OFTEN, len(image)),
        words=stream.below(3, len(image)),
        boxes=boxes,
        told=told,
    )


WORLD = World(files=("phrases.jsonl", "images.csv"), scene=scene, whole=True)
