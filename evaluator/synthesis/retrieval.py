"""Made-up pictures for retrieval: five captions each, and rankings in which the right ones stand near the top."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.synthesis.draws import Ints, Stream
from evaluator.synthesis.rows import Text, lines
from evaluator.synthesis.scene import World

CAPTIONS = 5
LISTED = 10
SPREAD = 40
"""A right answer that is not first may stand anywhere among so many, so most often it is not listed at all."""

_WHO = ("A man", "Two women", "A child in red", "A brown dog", "Several people", "A cyclist", "A street musician")
_DOES = ("waits", "runs", "looks up", "laughs", "carries a bag", "stands still", "jumps")
_WHERE = ("on the beach", "at a market", "in the snow", "by the road", "in a field", "under a bridge", "on a stage")


@dataclass(frozen=True, slots=True)
class GalleryScene:
    """Pictures and what is said of them.

    Attributes
    ----------
    ids : names of the pictures
    captions : names of the captions, (pictures × CAPTIONS,); they say nothing of their pictures
    words : int array (pictures, CAPTIONS, 3), the parts of each caption
    """

    ids: Text
    captions: Text
    words: Ints

    def truth(self) -> Mapping[str, bytes]:
        """Return the gallery and the images."""
        images, ids = _names(self.ids), _names(self.captions)
        own = [image for image in images for _ in range(CAPTIONS)]
        captions = [
            {"caption_id": caption, "image_id": image, "text": f"{_WHO[a]} {_DOES[b]} {_WHERE[c]}."}
            for caption, image, (a, b, c) in zip(ids, own, self.words.reshape(-1, 3).tolist(), strict=True)
        ]
        captions.sort(key=lambda caption: caption["caption_id"])
        gallery = json.dumps({"images": images, "captions": captions}, indent=0)
        return {"gallery.json": f"{gallery}\n".encode(), "images.csv": lines(self.ids)}

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes]:
        """Return rankings both ways."""
        images, captions = _names(self.ids), _names(self.captions)
        chosen = stream.below(CAPTIONS, len(images)) + CAPTIONS * np.arange(len(images))
        own = np.repeat(np.arange(len(images)), CAPTIONS)
        lists = {
            "image_to_sentence": dict(
                zip(images, _lists(stream, captions, chosen, CAPTIONS, quality=quality), strict=True)
            ),
            "sentence_to_image": dict(zip(captions, _lists(stream, images, own, 1, quality=quality), strict=True)),
        }
        return (f"{json.dumps(lists, indent=0)}\n".encode(),)


def _names(names: Text) -> list[str]:
    return [name.decode() for name in names.tolist()]


def _lists(stream: Stream, names: Sequence[str], right: Ints, block: int, *, quality: float) -> list[list[str]]:
    """Return a ranking for each right answer; the others are the answers that follow those of its picture.

    ``block``: how many answers belong to one picture.
    """
    first = stream.happens(0.8 * quality, len(right))
    rank = np.where(first, 0, 1 + stream.below(SPREAD, len(right)))
    others = max(len(names) - block, 0)
    away = stream.below(max(others, 1), len(right))
    lists = []
    for answer, place, start in zip(right.tolist(), rank.tolist(), away.tolist(), strict=True):
        after = answer // block * block + block
        ranking = [names[(after + (start + step) % others) % len(names)] for step in range(min(LISTED, others))]
        ranking[place:place] = [names[answer]] if place < LISTED else []
        lists.append(ranking[:LISTED])
    return lists


def scene(stream: Stream, ids: Text, boxes_per_image: int) -> GalleryScene:
    """Make pictures; each has five captions, whatever is asked."""
    words = stream.below(len(_WHO), len(ids) * CAPTIONS * 3).reshape(-1, CAPTIONS, 3)
    return GalleryScene(ids, stream.identifiers(len(ids) * CAPTIONS), words)


WORLD = World(files=("gallery.json", "images.csv"), scene=scene, whole=True)
