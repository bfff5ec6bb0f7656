"""Flickr30k Entities: a ranked list of boxes for each phrase, found where a box overlaps the phrase's own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import GROUNDING
from evaluator.files.folder import TruthFolder
from evaluator.metrics.bootstrap import Numbers, shares
from evaluator.metrics.boxes import intersection_over_union
from evaluator.metrics.matching import best_objects
from evaluator.metrics.resampling import Places
from evaluator.metrics.shares import share
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.tracks.checking import checked, listed_images
from evaluator.tracks.grounding.phrases import Phrase, phrases_of
from evaluator.tracks.grounding.reader import XYXY, Ranked, read
from evaluator.tracks.interface import Contest, Outcome, Progress, on_every_split
from evaluator.tracks.shared.ratios import ShareSample
from evaluator.tracks.shared.usage import usage_of
from evaluator.truth import Truth

NEVER = np.iinfo(np.int64).max
DEPTHS = {"recall@1": 1, "recall@5": 5, "recall@10": 10, "upper_bound": NEVER}


@dataclass(frozen=True, slots=True)
class Trials:
    """Every phrase of the truth; arrays of shape (N,).

    Attributes
    ----------
    images : int64 array
        Codes of the images.
    found : int64 array
        Rank of the first box that finds it, from 0; NEVER where none does.
    """

    images: NDArray[np.int64]
    found: NDArray[np.int64]


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth.

    Its texts: ``images``, ``sentences`` (image#sentence) and ``types``. Its arrays: ``images`` of the phrases;
    ``phrases_from``, where each sentence's begin, and the end; ``boxes`` (B, 4) as x1, x2, y1, y2 and ``boxes_from``,
    where each phrase's begin, and the end; ``types``, bool of shape (phrases, types); ``usage``.

    Raises
    ------
    InvalidTruth
    """
    phrases = phrases_of(folder)
    named = [phrase.image for phrase in phrases]
    images = {image: code for code, image in enumerate(listed_images(folder, named, "phrases.jsonl"))}
    usage = usage_of(folder, images)
    folder.faults.check()
    sentences = {key: len(list(members)) for key, members in groupby(phrases, _sentence)}
    types = sorted({name for phrase in phrases for name in phrase.types})
    boxes = np.array([box for phrase in phrases for box in phrase.boxes], np.float64).reshape(-1, 4)
    arrays: dict[str, NDArray[Any]] = {
        "images": np.array([images[image] for image in named], np.int64),
        "phrases_from": np.cumsum([0, *sentences.values()], dtype=np.int64),
        "boxes": boxes[:, XYXY],
        "boxes_from": np.cumsum([0, *(len(phrase.boxes) for phrase in phrases)], dtype=np.int64),
        "types": np.array([[name in phrase.types for name in types] for phrase in phrases], bool),
        "usage": usage,
    }
    texts = {"images": list(images), "sentences": list(sentences), "types": types}
    flags = {"images_listed": "images.csv" in folder}
    return checked(folder.faults, Truth(folder.track.name, folder.sha256, {}, flags, texts, arrays))


def _sentence(phrase: Phrase) -> str:
    return f"{phrase.image}#{phrase.sentence}"


def targets(truth: Truth, rule: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the boxes to find and their phrases, (M,) ascending and (M, 4): all of them, or one around each phrase's.

    Sources: the Flickr30k Entities paper for ``merged``; for ``any`` the evaluation of MDETR.
    """
    boxes, starts = truth.arrays["boxes"], truth.arrays["boxes_from"][:-1]
    if rule == "any":
        return np.repeat(np.arange(len(starts)), np.diff(truth.arrays["boxes_from"])), boxes
    low, high = np.minimum.reduceat(boxes, starts), np.maximum.reduceat(boxes, starts)
    return np.arange(len(starts)), np.stack([low[:, 0], high[:, 1], low[:, 2], high[:, 3]], axis=1)


def evaluate(truth: Truth, ranked: Ranked, parameters: Mapping[str, Any], progress: Progress) -> Outcome:
    """Score the lists on every split."""
    progress("matching", 0.0)
    owners, boxes = targets(truth, parameters["box_rule"])
    _, overlap = best_objects(
        ranked.phrases, owners, lambda ours, theirs: intersection_over_union(ranked.boxes[ours], boxes[theirs])
    )
    hits = overlap >= parameters["iou_threshold"]
    found = np.full(len(truth.arrays["images"]), NEVER)
    np.minimum.at(found, ranked.phrases[hits], ranked.ranks[hits])
    trials = Trials(truth.arrays["images"], found)
    progress("scoring", 0.0)
    splits = on_every_split(truth, lambda split: fold(truth, trials, truth.splits[split].astype(np.float64)))
    return Outcome(splits, partial(sample, trials), trials=lambda metric: trials.images)


def fold(truth: Truth, trials: Trials, image_weights: NDArray[np.float64]) -> SplitReport:
    """Sum up over all phrases and by type; a phrase of two types counts in both.

    Parameters
    ----------
    image_weights : float64 array of shape (images,)
        How often each image counts.
    """
    weights = image_weights[trials.images]
    classes: list[ClassRow] = []
    for place, name in enumerate(truth.texts["types"]):
        of_type = weights * truth.arrays["types"][:, place]
        if not of_type.any():
            continue  # the types are those of all images: a row would show what only private ones have
        recalls = {metric: finite(value) for metric, value in _recalls(trials, of_type).items()}
        classes.append({"label": name, "name": name.capitalize(), **recalls, "truths": int(of_type.sum())})
    metrics = {metric: finite(value) for metric, value in _recalls(trials, weights).items()}
    return SplitReport(GROUNDING.headline, metrics, classes)


def sample(trials: Trials, places: Places) -> ShareSample:
    """Return the sample of one split."""
    hits = {metric: trials.found < depth for metric, depth in DEPTHS.items()}
    return ShareSample.of(trials.images, hits, places, _resampled)


def _resampled(tried: Numbers, found: Mapping[str, Numbers]) -> dict[str, Numbers]:
    return {metric: shares(hits[0], tried[0]) for metric, hits in found.items()}


def _recalls(trials: Trials, weights: NDArray[np.float64]) -> dict[str, float]:
    return {metric: share(trials.found < depth, weights) for metric, depth in DEPTHS.items()}


def blank(truth: Truth) -> str:
    """Write every sentence with an empty list for each of its phrases."""
    return _written(truth, [[] for _ in truth.arrays["images"]])


def ceiling(truth: Truth, parameters: Mapping[str, Any]) -> str:
    """Write for each phrase one box that is to be found."""
    owners, boxes = targets(truth, parameters["box_rule"])
    first = np.searchsorted(owners, np.arange(len(truth.arrays["images"])))
    return _written(truth, [[box] for box in boxes[first][:, XYXY].tolist()])


def _written(truth: Truth, lists: list[list[list[float]]]) -> str:
    ends = truth.arrays["phrases_from"].tolist()
    entries = []
    for code, sentence in enumerate(truth.texts["sentences"]):
        image, _, number = sentence.rpartition("#")
        boxes = lists[ends[code] : ends[code + 1]]
        entries.append({"image_id": image, "sentence_id": int(number), "boxes": boxes})
    return json.dumps(entries)


CONTEST = Contest(GROUNDING, compiler=__name__, read=read, evaluate=evaluate, blank=blank, ceiling=ceiling)
