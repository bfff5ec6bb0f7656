"""Retrieval both ways: the sentences of an image, the image of a sentence, by the rank of the first right answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RETRIEVAL
from evaluator.files.documents import TOP, Document
from evaluator.files.folder import TruthFolder
from evaluator.files.source import Source
from evaluator.metrics.bootstrap import Numbers, shares
from evaluator.metrics.resampling import Places
from evaluator.metrics.shares import share
from evaluator.problems import Problem, Stop
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.tracks.checking import checked, listed_images
from evaluator.tracks.interface import Contest, Outcome, Progress, on_every_split
from evaluator.tracks.retrieval.captions import naming, ordered, shuffled
from evaluator.tracks.shared.ratios import ShareSample
from evaluator.tracks.shared.usage import usage_of
from evaluator.truth import Truth

GALLERY = "gallery.json"
WAYS = {"image_to_sentence": "Image to sentence", "sentence_to_image": "Sentence to image"}
DEPTHS = (1, 5, 10)
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Queries:
    """The queries of one way; arrays of shape (N,).

    Attributes
    ----------
    images : int64 array
        Image that each goes with.
    found : int64 array
        Rank of its first right answer, from 0; NEVER where there is none.
    complete : bool
        Whether every list holds the whole gallery.
    """

    images: NDArray[np.int64]
    found: NDArray[np.int64]
    complete: bool


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth: ``images``, ``captions`` with their ``sentences``, and the image of each caption.

    Raises
    ------
    InvalidTruth
    """
    named, captions, sentences = _gallery(folder)
    images = {image: code for code, image in enumerate(listed_images(folder, named, GALLERY))}
    for image in sorted(set(named).symmetric_difference(captions.values())):
        what = "has no caption" if image in images else "is the image of a caption and not among the images"
        folder.faults.add("truth_bad_value", GALLERY, f"{image[:60]} {what}")
    if folder.hidden:
        _refuse_revealing(folder, named, captions)
    usage = usage_of(folder, images)
    folder.faults.check()
    if len(images) <= max(DEPTHS):
        message = f"has {len(images)} images; from {max(DEPTHS) + 1} on, recall@{max(DEPTHS)} tells submissions apart"
        folder.faults.warn("truth_small_gallery", GALLERY, message)
    ids = sorted(captions)  # the order of the file can show which captions belong to one image
    of_captions = np.array([images[captions[caption]] for caption in ids], np.int64)
    texts = {"images": list(images), "captions": ids, "sentences": [sentences[caption] for caption in ids]}
    arrays: dict[str, NDArray[Any]] = {"caption_images": of_captions, "usage": usage}
    return checked(folder.faults, Truth(folder.track.name, folder.sha256, {}, {}, texts, arrays))


def _refuse_revealing(folder: TruthFolder, images: list[str], captions: dict[str, str]) -> None:
    """Note caption ids that give the right answers to whoever reads them."""
    remedy = "give captions ids that say nothing (manage.py import_challenge --opaque-ids writes some)"
    for caption in naming(captions):
        message = f"caption id {caption[:60]!r} contains the id of its image; {remedy}"
        folder.faults.add("truth_reveals_answers", GALLERY, message)
    if not folder.faults.found.total and (order := ordered(captions, images)):
        message = f"the order of the captions {order} shows which of them belong to one image; {remedy}"
        folder.faults.add("truth_reveals_answers", GALLERY, message)


def _gallery(folder: TruthFolder) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return the images, the image of each caption, and the sentence of each caption, empty where none is given."""
    gallery, faults = folder.json(GALLERY), folder.faults
    if not isinstance(gallery, dict):
        gallery = {}
    images, entries = gallery.get("images"), gallery.get("captions")
    if not isinstance(images, list) or not isinstance(entries, list):
        faults.add("truth_bad_value", GALLERY, "must be an object with two lists, images and captions")
        raise faults.error
    if not all(isinstance(image, str) for image in images) or len(set(images)) < len(images):
        faults.add("truth_bad_value", GALLERY, "an image is no text, or stands twice")
        raise faults.error
    captions: dict[str, str] = {}
    sentences: dict[str, str] = {}
    for place, entry in enumerate(entries):
        caption, image = _caption(entry)
        if not image or caption in captions:
            message = f"{TOP}.captions[{place}] has no id as in image#0, or stands twice"
            faults.add("truth_bad_value", GALLERY, message)
        captions[caption] = image
        text = entry.get("text") if isinstance(entry, dict) else None
        sentences[caption] = text if isinstance(text, str) else ""
    return images, captions, sentences


def _caption(entry: Any) -> tuple[str, str]:
    """Return the id of a caption and its image; nothing for what is neither an id nor an object with one."""
    caption = entry.get("caption_id") if isinstance(entry, dict) else entry
    image = entry.get("image_id") if isinstance(entry, dict) else None
    if not isinstance(caption, str):
        return "", ""
    return caption, image if isinstance(image, str) else caption.rpartition("#")[0]


def queries_of(truth: Truth, way: str) -> tuple[dict[str, int], dict[str, int], NDArray[np.int64]]:
    """Return the queries of a way, what there is to find, and which query each of those answers, shape (found,).

    A query and an answer go together where both are of one image; queries are given by the code of theirs. They are
    sorted by their own ids: files of earlier versions keep the captions in the order of the truth, which defects must
    not follow.
    """
    of_captions = truth.arrays["caption_images"]
    captions = dict(sorted((caption, code) for code, caption in enumerate(truth.texts["captions"])))
    names = truth.texts["images"]
    images = {names[code]: code for code in np.unique(of_captions).tolist()}
    if way == "image_to_sentence":
        return images, captions, of_captions
    return {caption: int(of_captions[code]) for caption, code in captions.items()}, images, np.arange(len(names))


def read(source: Source, truth: Truth | None, parameters: Mapping[str, Any]) -> dict[str, Queries]:
    """Read a submission; every query of the truth must be there."""
    try:
        return _read(source, truth)
    except Stop:
        return {}  # the reason is in the findings


def _read(source: Source, truth: Truth | None) -> dict[str, Queries]:
    document = Document(source)
    if not document.fields(document.value, dict.fromkeys(WAYS, dict), TOP):
        return {}
    sound = [_lists_are_sound(document, document.value[way], f"{TOP}.{way}") for way in WAYS]
    total = sum(len(ids) for way in WAYS for ids in document.value[way].values() if isinstance(ids, list))
    if total > source.limits.boxes:
        source.findings.stop_at(Problem("too_many_rows", f"more than {source.limits.boxes:,} answers"))
    if truth is None or not all(sound):
        return {}
    return {way: _ranked(document, truth, way) for way in WAYS}


def _lists_are_sound(document: Document, lists: Mapping[str, Any], path: str) -> bool:
    """Note what is no list of texts, and ids that stand twice in one."""
    before = document.findings.total
    for query, ids in lists.items():
        here = f"{path}.{query[:60]}"
        if not document.expect(ids, list, here):
            continue
        if set(map(type, ids)) <= {str}:
            if len(set(ids)) < len(ids):
                document.wrong(here, "an id stands twice in this list", image=query)
            continue
        for place, each in enumerate(ids):
            document.expect(each, str, f"{here}[{place}]")
    return document.findings.total == before


def _ranked(document: Document, truth: Truth, way: str) -> Queries:
    """Return the rank of each query's first right answer; note queries and answers that are not of this gallery."""
    queries, answers, images = queries_of(truth, way)
    lists, path = document.value[way], f"{TOP}.{way}"
    for query in (query for query in queries if query not in lists):
        document.wrong(path, f"query {query[:60]!r} is missing", code="missing_image", image=query)
    for query in (query for query in lists if query not in queries):
        document.wrong(f"{path}.{query[:60]}", "this query is not in the gallery", code="unknown_image", image=query)
    found = np.full(len(queries), NEVER)
    for row, (query, image) in enumerate(queries.items()):
        ids = lists.get(query, ())
        codes = np.fromiter((answers.get(each, -1) for each in ids), np.int64, len(ids))
        for place in np.flatnonzero(codes < 0).tolist():
            here = f"{path}.{query}[{place}]"
            document.wrong(here, f"{ids[place][:60]!r} is not in the gallery", code="unknown_image", image=query)
        right = images[codes] == image if not document.findings.total else np.zeros(0, bool)
        if right.any():
            found[row] = right.argmax()
    complete = all(len(lists.get(query, ())) == len(answers) for query in queries)
    return Queries(np.fromiter(queries.values(), np.int64, len(queries)), found, complete)


def evaluate(truth: Truth, ranked: Mapping[str, Queries], parameters: Mapping[str, Any], progress: Progress) -> Outcome:
    """Score the lists on every split; the gallery is always the whole one."""
    progress("scoring", 0.0)
    splits = on_every_split(truth, lambda split: fold(ranked, truth.splits[split].astype(np.float64)))
    return Outcome(splits, partial(sample, ranked), trials=partial(images_tried, ranked))


def fold(ranked: Mapping[str, Queries], image_weights: NDArray[np.float64]) -> SplitReport:
    """Sum up both ways.

    Parameters
    ----------
    image_weights : float64 array of shape (images,)
        How often each image counts, and with it its sentences.
    """
    recalls: dict[str, float] = {}
    rows: list[ClassRow] = []
    for way, title in WAYS.items():
        queries = ranked[way]
        weights = image_weights[queries.images]
        at = {f"recall@{depth}": share(queries.found < depth, weights) for depth in DEPTHS}
        recalls |= {f"{way}_{name}": value for name, value in at.items()}
        ranks = np.repeat(queries.found, weights.astype(np.int64))
        median = 1.0 + float(np.median(ranks)) if queries.complete and len(ranks) else None
        rows.append(
            {
                "label": way,
                "name": title,
                **{name: finite(value) for name, value in at.items()},
                "median_rank": median,
                "truths": len(ranks),
            }
        )
    metrics = {RETRIEVAL.headline: sum(recalls.values()) / len(recalls), **recalls}
    return SplitReport(RETRIEVAL.headline, {name: finite(value) for name, value in metrics.items()}, rows)


def images_tried(ranked: Mapping[str, Queries], metric: str) -> NDArray[np.int64]:
    """Return the image of each query of a metric: those of its way, or of both for their mean."""
    ways = [way for way in WAYS if metric.startswith(f"{way}_")] or WAYS
    return np.concatenate([ranked[way].images for way in ways])


def sample(ranked: Mapping[str, Queries], places: Places) -> ShareSample:
    """Return the sample of one split: the queries of both ways go with their image."""
    ways = [ranked[way] for way in WAYS]
    found = np.concatenate([queries.found for queries in ways])
    return ShareSample.of(
        np.concatenate([queries.images for queries in ways]),
        {f"recall@{depth}": found < depth for depth in DEPTHS},
        places,
        _resampled,
        np.repeat(np.arange(len(ways)), [len(queries.images) for queries in ways]),
        len(ways),
    )


def _resampled(tried: Numbers, found: Mapping[str, Numbers]) -> dict[str, Numbers]:
    recalls = {f"{way}_{name}": shares(hits[w], tried[w]) for w, way in enumerate(WAYS) for name, hits in found.items()}
    return {RETRIEVAL.headline: np.mean(list(recalls.values()), axis=0), **recalls}


def blank(truth: Truth) -> str:
    """Write an empty list for each query, in an order that reveals nothing."""
    return json.dumps({way: {query: [] for query in shuffled(queries_of(truth, way)[0])} for way in WAYS})


def candidates(truth: Truth) -> str:
    """Write all images and all captions with their sentences, each in an order that reveals nothing."""
    sentences = dict(zip(truth.texts["captions"], truth.texts["sentences"], strict=True))
    captions = [{"caption_id": caption, "text": sentences[caption]} for caption in shuffled(sentences)]
    return json.dumps({"images": shuffled(truth.texts["images"]), "captions": captions}, indent=0, ensure_ascii=False)


def ceiling(truth: Truth, parameters: Mapping[str, Any]) -> str:
    """Write for each query all its right answers."""
    lists = {}
    for way in WAYS:
        queries, answers, images = queries_of(truth, way)
        right: dict[int, list[str]] = {}
        for answer, code in answers.items():
            right.setdefault(int(images[code]), []).append(answer)
        lists[way] = {query: right[image] for query, image in queries.items()}
    return json.dumps(lists)


CONTEST = Contest(
    RETRIEVAL,
    compiler=__name__,
    read=read,
    evaluate=evaluate,
    blank=blank,
    ceiling=ceiling,
    candidates=candidates,
)
