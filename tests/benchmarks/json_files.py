"""Writes ground truths and submissions of the JSON tracks. With 31,783 images, they are as large as all of Flickr30k.

Each image has five captions, and each caption about three phrases. The ids are as long as those of Flickr30k and those
that `manage.py import_challenge --opaque-ids` creates.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.challenge import Ints

CAPTIONS = 5
FURTHER_PHRASES = 2.08
"""Mean number of phrases of a caption, not counting the first phrase."""
WIDTH, HEIGHT = 500, 375
TYPES = ("people", "clothing", "bodyparts", "animals", "vehicles", "instruments", "scene", "other")
IMAGES_AT_ONCE = 500
COMPACT = (",", ":")
"""The separators of JSON without spaces."""


def ids_of(images: int) -> tuple[list[str], list[str]]:
    """Return the ids of all images, and the ids of their captions in the order of the images."""
    captions = [f"{place * 184_467_440_737 % 2**48:012x}" for place in range(images * CAPTIONS)]
    return [str(1_000_000_000 + place * 123_457) for place in range(images)], captions


def write_gallery(folder: Path, *, images: int) -> None:
    """Write a ground truth of the retrieval track."""
    folder.mkdir(parents=True, exist_ok=True)
    ids, captions = ids_of(images)
    entries = [
        {"caption_id": caption, "image_id": ids[place // CAPTIONS], "text": "Two young men look at their hands."}
        for place, caption in enumerate(captions)
    ]
    (folder / "gallery.json").write_text(json.dumps({"images": ids, "captions": entries}))


def write_rankings(file: Path, *, images: int, length: int, seed: int = 1) -> None:
    """Write a submission with at most ``length`` answers for each query. Half of the lists have a correct answer."""
    rng = np.random.default_rng(seed)
    ids, captions = ids_of(images)
    own = np.arange(images) * CAPTIONS + rng.integers(0, CAPTIONS, images)
    lists = {
        "image_to_sentence": dict(zip(ids, rankings(rng, captions, own, length), strict=True)),
        "sentence_to_image": dict(
            zip(captions, rankings(rng, ids, np.arange(len(captions)) // CAPTIONS, length), strict=True)
        ),
    }
    file.write_text(json.dumps(lists, separators=COMPACT))


def rankings(rng: np.random.Generator, answers: Sequence[str], right: Ints, length: int) -> Iterator[list[str]]:
    """Yield a list of distinct answers for each element of ``right``, the index of a correct answer.

    The correct answer has a random rank below ``2 * length``, so it is missing from half of the lists.
    """
    order = [answers[place] for place in rng.permutation(len(answers))] * 2
    starts, ranks = rng.integers(0, len(answers), len(right)), rng.integers(0, 2 * length, len(right))
    for answer, start, rank in zip(right.tolist(), starts.tolist(), ranks.tolist(), strict=True):
        ranking = [each for each in order[start : start + min(length, len(answers))] if each != answers[answer]]
        if rank < length:
            ranking.insert(rank, answers[answer])
        yield ranking[:length]


def phrases_of(images: int) -> tuple[Ints, NDArray[np.float64]]:
    """Return the number of phrases of each caption, and one box of each phrase in pixels: x1, y1, x2 and y2."""
    rng = np.random.default_rng(0)
    counts = 1 + rng.poisson(FURTHER_PHRASES, images * CAPTIONS)
    return counts, random_boxes(rng, int(counts.sum()))


def random_boxes(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    size, free = rng.beta(1.2, 3.0, (count, 2)) * 0.9 + 0.02, rng.random((count, 2))
    low = free * (1.0 - size)
    return np.hstack([low, low + size]) * np.array([WIDTH, HEIGHT] * 2)


def write_phrases(folder: Path, *, images: int) -> None:
    """Write a ground truth of the grounding track. Each phrase has one box."""
    folder.mkdir(parents=True, exist_ok=True)
    ids, _ = ids_of(images)
    counts, boxes = phrases_of(images)
    sentences = np.repeat(np.arange(len(counts)), counts)
    index = np.arange(len(boxes)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = zip(sentences.tolist(), index.tolist(), boxes.astype(int).tolist(), strict=True)
    with (folder / "phrases.jsonl").open("w") as out:
        for sentence, phrase, box in rows:
            image, number = divmod(sentence, CAPTIONS)
            key = {"image_id": ids[image], "sentence_id": number, "phrase_index": phrase}
            out.write(json.dumps(key | {"types": [TYPES[(sentence + phrase) % len(TYPES)]], "boxes": [box]}) + "\n")


def write_boxes(file: Path, *, images: int, length: int, seed: int = 1) -> None:
    """Write a submission with ``length`` boxes for each phrase. For half of the phrases, one of them is correct."""
    ids, _ = ids_of(images)
    counts, objects = phrases_of(images)
    starts = np.cumsum([0, *counts]).tolist()
    with file.open("w") as out:
        for first in range(0, images, IMAGES_AT_ONCE):
            sentences = range(first * CAPTIONS, min(first + IMAGES_AT_ONCE, images) * CAPTIONS)
            boxes = guesses(
                np.random.default_rng([seed, first]), objects[starts[sentences[0]] : starts[sentences[-1] + 1]], length
            )
            lists, before = np.round(boxes, 2).tolist(), starts[sentences[0]]
            for sentence in sentences:
                image, number = divmod(sentence, CAPTIONS)
                own = lists[starts[sentence] - before : starts[sentence + 1] - before]
                entry = {"image_id": ids[image], "sentence_id": number, "boxes": own}
                out.write(("," if sentence else "[") + json.dumps(entry, separators=COMPACT))
        out.write("]")


def guesses(rng: np.random.Generator, objects: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Return boxes for each object, shape (N, length, 4). For half of the objects, one of them is close to it."""
    boxes = random_boxes(rng, len(objects) * length).reshape(-1, length, 4)
    ranks = rng.integers(0, 2 * length, len(objects))
    found = np.flatnonzero(ranks < length)
    boxes[found, ranks[found]] = objects[found] + rng.random((len(found), 4))
    return boxes
