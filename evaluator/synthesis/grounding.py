"""Generates data for phrase grounding. Images have objects with boxes, and sentences with phrases for the objects."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.boxes import jittered, random_boxes
from evaluator.synthesis.random_stream import MILLION, Bools, Ints, RandomStream
from evaluator.synthesis.synthesizer import Synthesizer
from evaluator.synthesis.text_columns import TextColumn, csv_lines

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
_WEIGHTS: Ints = np.array([8, 4, 2, 2, 1, 1, 3, 6])
MAX_BOXES = 3
GUESSES = 10


@dataclass(frozen=True, slots=True)
class PhraseScene:
    """Generated images with phrases. Arrays of phrases are sorted by image and sentence.

    Attributes
    ----------
    ids : TextColumn
        Ids of the images.
    image, sentence, kind, words : int64 arrays of shape (phrases,)
        For each phrase: index of the image, index of the sentence within the image, index of the kind of object, and
        index of the words that describe the object.
    boxes : int64 array of shape (phrases, MAX_BOXES, 4)
        Boxes of each phrase in pixels, as x1, y1, x2, y2.
    exists : bool array of shape (phrases, MAX_BOXES)
        Whether the phrase has a box at this position. Every phrase has a first box.
    """

    ids: TextColumn
    image: Ints
    sentence: Ints
    kind: Ints
    words: Ints
    boxes: Ints
    exists: Bools

    def truth(self) -> Mapping[str, bytes]:
        """Return the lines of two ground truth files: the phrases and the images."""
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
                "boxes": self.boxes[row][self.exists[row]].tolist(),
                "width": WIDTH,
                "height": HEIGHT,
            }
            rows.append(json.dumps(phrase) + "\n")
        return {"phrases.jsonl": "".join(rows).encode(), "images.csv": csv_lines(self.ids)}

    def predictions(self, stream: RandomStream, *, quality: float) -> tuple[bytes]:
        """Return a list of boxes for each phrase. Most lists contain a nearly correct box at a random rank.

        The other boxes are random. The higher the quality, the more often the nearly correct box comes first.
        """
        count, error_rate = len(self.image), 1.0 - quality
        near = _pixels(jittered(stream, _millionths(_around(self.boxes, self.exists)), by=0.02 + 0.12 * error_rate))
        first = stream.bernoulli(quality, count)
        rank = np.where(first, 0, 1 + stream.integers(2 * GUESSES, count))
        boxes = _pixels(random_boxes(stream, count * GUESSES)).reshape(count, GUESSES, 4)
        boxes[rank < GUESSES, rank[rank < GUESSES]] = near[rank < GUESSES]
        entries: dict[tuple[int, int], list[object]] = {}
        for image, sentence, ranked in zip(self.image.tolist(), self.sentence.tolist(), boxes.tolist(), strict=True):
            entries.setdefault((image, sentence), []).append(ranked)
        ids = self.ids.tolist()
        written = (
            json.dumps({"image_id": ids[image].decode(), "sentence_id": sentence, "boxes": boxes})
            for (image, sentence), boxes in entries.items()
        )
        return (("[\n" + ",\n".join(written) + "\n]\n").encode(),)


def _around(boxes: Ints, exists: Bools) -> Ints:
    """Return, for each phrase, the smallest box that contains all of its boxes."""
    counted = exists[:, :, None]
    low = np.where(counted, boxes, MILLION).min(axis=1)
    high = np.where(counted, boxes, -1).max(axis=1)
    return np.concatenate([low[:, :2], high[:, 2:]], axis=1)


def _pixels(boxes: Ints) -> Ints:
    """Convert boxes from millionths (x1, x2, y1, y2) to pixels (x1, y1, x2, y2). Each box has a positive area."""
    low = boxes[:, [0, 2]] * np.array([WIDTH - 1, HEIGHT - 1]) // MILLION
    high = boxes[:, [1, 3]] * np.array([WIDTH - 1, HEIGHT - 1]) // MILLION
    return np.concatenate([low, np.maximum(high, low + 1)], axis=1)


def _millionths(boxes: Ints) -> Ints:
    size = np.array([WIDTH, WIDTH, HEIGHT, HEIGHT])
    return np.asarray(boxes[:, [0, 2, 1, 3]] * MILLION // size)


def scene(stream: RandomStream, ids: TextColumn, boxes_per_image: int) -> PhraseScene:
    """Return generated images. Each has at least one phrase; the mean number is about ``boxes_per_image``."""
    counts = np.maximum(stream.counts(boxes_per_image, len(ids)), 1)
    image = np.repeat(np.arange(len(ids)), counts)
    sentence = stream.integers(SENTENCES, len(image))
    order = np.lexsort((sentence, image))
    boxes = _pixels(random_boxes(stream, len(image) * MAX_BOXES)).reshape(-1, MAX_BOXES, 4)
    exists = stream.bernoulli(0.15, boxes[:, :, 0].size).reshape(-1, MAX_BOXES)
    exists[:, 0] = True
    return PhraseScene(
        ids=ids,
        image=image[order],
        sentence=sentence[order],
        kind=stream.weighted_indices(_WEIGHTS, len(image)),
        words=stream.integers(3, len(image)),
        boxes=boxes,
        exists=exists,
    )


SYNTHESIZER = Synthesizer(image_files=("phrases.jsonl", "images.csv"), scene=scene, single_scene=True)
