"""Compiles a ground truth folder of the grounding track."""

from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.folder import TruthFolder
from evaluator.tracks.checking import Position, checked, listed_images, usage_of
from evaluator.tracks.grounding.phrases import Phrase, phrases_of
from evaluator.tracks.grounding.reader import XYXY
from evaluator.tracks.grounding.truth import GroundingParameters, GroundingTruth


def compile_truth(folder: TruthFolder, parameters: GroundingParameters) -> GroundingTruth:
    """Check a ground truth folder and compile it.

    Raises
    ------
    InvalidTruth
        If the ground truth folder has faults.
    """
    phrases = phrases_of(folder)
    named = [phrase.image for phrase in phrases]
    first = {phrase.image: Position(phrase.file, phrase.line) for phrase in reversed(phrases)}
    images = {image: code for code, image in enumerate(listed_images(folder, first))}
    usage = usage_of(folder, images)
    folder.faults.check()
    sentences = {key: len(list(members)) for key, members in groupby(phrases, _sentence)}
    types = sorted({name for phrase in phrases for name in phrase.types})
    has_type = np.array([[name in phrase.types for name in types] for phrase in phrases], bool)
    boxes = np.array([box for phrase in phrases for box in phrase.boxes], np.float64).reshape(-1, 4)
    arrays: dict[str, NDArray[Any]] = {
        "images": np.array([images[image] for image in named], np.int64),
        "phrases_from": np.cumsum([0, *sentences.values()], dtype=np.int64),
        "boxes": boxes[:, XYXY],
        "boxes_from": np.cumsum([0, *(len(phrase.boxes) for phrase in phrases)], dtype=np.int64),
        "types": has_type.reshape(len(phrases), len(types)),
        "usage": usage,
    }
    texts = {"images": list(images), "sentences": list(sentences), "types": types}
    flags = {"images_listed": "images.csv" in folder}
    return checked(folder.faults, GroundingTruth(folder.track.name, folder.sha256, {}, flags, texts, arrays))


def _sentence(phrase: Phrase) -> str:
    return f"{phrase.image}#{phrase.sentence}"
