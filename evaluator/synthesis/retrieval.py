"""Generates data for retrieval: images with five captions each, and rankings of captions and of images."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.random_stream import Ints, RandomStream
from evaluator.synthesis.synthesizer import Synthesizer
from evaluator.synthesis.text_columns import TextColumn, csv_lines

CAPTIONS = 5
LISTED = 10
SPREAD = 40
"""Maximum index of a correct answer in its ranking. Rankings end after LISTED answers, so some answers are missing."""

_WHO = ("A man", "Two women", "A child in red", "A brown dog", "Several people", "A cyclist", "A street musician")
_DOES = ("waits", "runs", "looks up", "laughs", "carries a bag", "stands still", "jumps")
_WHERE = ("on the beach", "at a market", "in the snow", "by the road", "in a field", "under a bridge", "on a stage")


@dataclass(frozen=True, slots=True)
class GalleryScene:
    """Generated images and their captions.

    Attributes
    ----------
    ids : TextColumn
        Ids of the images.
    captions : TextColumn of shape (images × CAPTIONS,)
        Ids of the captions. They do not depend on the ids of the images.
    words : int64 array of shape (images, CAPTIONS, 3)
        Indices of the subject, the verb and the location in each caption.
    """

    ids: TextColumn
    captions: TextColumn
    words: Ints

    def truth(self) -> Mapping[str, bytes]:
        """Return the content of two ground truth files: the gallery and the list of images."""
        images, ids = _decoded(self.ids), _decoded(self.captions)
        own = [image for image in images for _ in range(CAPTIONS)]
        captions = [
            {"caption_id": caption, "image_id": image, "text": f"{_WHO[a]} {_DOES[b]} {_WHERE[c]}."}
            for caption, image, (a, b, c) in zip(ids, own, self.words.reshape(-1, 3).tolist(), strict=True)
        ]
        captions.sort(key=lambda caption: caption["caption_id"])
        gallery = json.dumps({"images": images, "captions": captions}, indent=0)
        return {"gallery.json": f"{gallery}\n".encode(), "images.csv": csv_lines(self.ids)}

    def predictions(self, stream: RandomStream, *, quality: float) -> tuple[bytes]:
        """Return a ranking of the captions for each image, and a ranking of the images for each caption."""
        images, captions = _decoded(self.ids), _decoded(self.captions)
        chosen = stream.integers(CAPTIONS, len(images)) + CAPTIONS * np.arange(len(images))
        own = np.repeat(np.arange(len(images)), CAPTIONS)
        lists = {
            "image_to_sentence": dict(
                zip(images, _lists(stream, captions, chosen, CAPTIONS, quality=quality), strict=True)
            ),
            "sentence_to_image": dict(zip(captions, _lists(stream, images, own, 1, quality=quality), strict=True)),
        }
        return (f"{json.dumps(lists, indent=0)}\n".encode(),)


def _decoded(ids: TextColumn) -> list[str]:
    return [each.decode() for each in ids.tolist()]


def _lists(stream: RandomStream, answers: Sequence[str], right: Ints, block: int, *, quality: float) -> list[list[str]]:
    """Return a ranking of answers for each element of ``right``, which contains indices of correct answers.

    The correct answer has a random rank or is missing. All other answers belong to other images. ``block`` is the
    number of answers that belong to one image.
    """
    first = stream.bernoulli(0.8 * quality, len(right))
    rank = np.where(first, 0, 1 + stream.integers(SPREAD, len(right)))
    others = max(len(answers) - block, 0)
    away = stream.integers(max(others, 1), len(right))
    lists = []
    for answer, place, start in zip(right.tolist(), rank.tolist(), away.tolist(), strict=True):
        after = answer // block * block + block
        ranking = [answers[(after + (start + step) % others) % len(answers)] for step in range(min(LISTED, others))]
        ranking[place:place] = [answers[answer]] if place < LISTED else []
        lists.append(ranking[:LISTED])
    return lists


def scene(stream: RandomStream, ids: TextColumn, boxes_per_image: int) -> GalleryScene:
    """Return generated images. Each image has five captions, so ``boxes_per_image`` has no effect."""
    words = stream.integers(len(_WHO), len(ids) * CAPTIONS * 3).reshape(-1, CAPTIONS, 3)
    return GalleryScene(ids, stream.identifiers(len(ids) * CAPTIONS), words)


SYNTHESIZER = Synthesizer(image_files=("gallery.json", "images.csv"), scene=scene, single_scene=True)
