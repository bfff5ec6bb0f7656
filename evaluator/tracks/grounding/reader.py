"""A submission of ranked boxes: JSON to arrays, every defect with its path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.documents import TOP, Document, matrix
from evaluator.files.notices import notice_oddities
from evaluator.files.source import Source
from evaluator.problems import Problem, Stop
from evaluator.truth import Truth

KINDS = {"image_id": str, "sentence_id": int, "boxes": list}
XYXY = [0, 2, 1, 3]
"""From x1, y1, x2, y2 to x1, x2, y1, y2, the order of :mod:`evaluator.metrics.boxes`, and back."""
NOT_EVALUATED = -1


@dataclass(frozen=True, slots=True)
class Ranked:
    """The boxes of evaluated phrases; arrays of shape (N,), boxes (N, 4) as x1, x2, y1, y2.

    ``ranks``: place in the list of its phrase, from 0.
    """

    phrases: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    ranks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    boxes: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))


@dataclass(frozen=True, slots=True)
class Entry:
    """One sentence of a submission: where it stands, and a list of boxes for each phrase."""

    path: str
    image: str
    sentence: str
    lists: list[Any]


def read(source: Source, truth: Truth | None, parameters: Mapping[str, Any]) -> Ranked:
    """Read a submission; every sentence of the truth must be there, with a list for each of its phrases."""
    try:
        return _read(source, truth)
    except Stop:
        return Ranked()  # the reason is in the findings


def _read(source: Source, truth: Truth | None) -> Ranked:
    document = Document(source)
    if not document.expect(document.value, list, TOP):
        return Ranked()
    entries = _entries(document)
    boxes = _boxes(document, entries)
    limits = source.limits
    if len(boxes) > limits.boxes or len(entries) > limits.images:
        message = f"more than {limits.boxes:,} boxes or {limits.images:,} sentences"
        source.findings.stop_at(Problem("too_many_rows", message))
    if truth is None or len(entries) < len(document.value):
        return Ranked()
    owners = _phrases(document, entries, truth)
    if source.findings.total:
        return Ranked()
    sizes = np.array([len(ranked) for entry in entries for ranked in entry.lists], np.int64)
    phrases = np.repeat(np.array(owners, np.int64), sizes)
    ranks = np.arange(len(boxes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    evaluated = phrases != NOT_EVALUATED
    phrases, ranks, boxes = phrases[evaluated], ranks[evaluated], boxes[evaluated]
    inverted = (boxes[:, 0] >= boxes[:, 1]) | (boxes[:, 2] >= boxes[:, 3])
    notice_oddities(source.findings, inverted=int(inverted.sum()), outside=0, beyond=0)
    return Ranked(phrases, ranks, boxes)


def _entries(document: Document) -> list[Entry]:
    """Return the sentences that are written as they must be."""
    entries: list[Entry] = []
    for place, value in enumerate(document.value):
        path = f"{TOP}[{place}]"
        if document.fields(value, KINDS, path):
            lists = [ranked for ranked in value["boxes"] if type(ranked) is list]
            if len(lists) < len(value["boxes"]):
                for wrong, ranked in enumerate(value["boxes"]):
                    document.expect(ranked, list, f"{path}.boxes[{wrong}]")
            entries.append(Entry(path, value["image_id"], f"{value['image_id']}#{value['sentence_id']}", lists))
    return entries


def _boxes(document: Document, entries: Sequence[Entry]) -> NDArray[np.float64]:
    """Return all boxes one after another, shape (N, 4), as x1, x2, y1, y2; note what is none."""
    boxes = matrix([box for entry in entries for ranked in entry.lists for box in ranked], 4)
    if boxes is not None:
        return boxes[:, XYXY]
    for entry in entries:
        for place, ranked in enumerate(entry.lists):
            for rank, box in enumerate(ranked):
                _find_fault(document, box, f"{entry.path}.boxes[{place}][{rank}]")
    return np.zeros((0, 4))


def _find_fault(document: Document, box: Any, path: str) -> None:
    if not document.expect(box, list, path):
        return
    if len(box) != 4:
        document.wrong(path, f"{len(box)} numbers where a box has four: x1, y1, x2, y2")
    for corner, value in enumerate(box):
        document.expect_number(value, f"{path}[{corner}]")


def _phrases(document: Document, entries: Sequence[Entry], truth: Truth) -> list[int]:
    """Return the phrase of each list, NOT_EVALUATED outside the evaluated sentences; note defects of sentences."""
    waiting = {sentence: code for code, sentence in enumerate(truth.texts["sentences"])}
    ends = truth.arrays["phrases_from"].tolist()
    phrases: list[int] = []
    extra, seen = 0, set()
    for entry in entries:
        code = waiting.pop(entry.sentence, None)
        if code is None:
            extra += 1
            _note_stranger(document, entry, truth, told_before=entry.sentence in seen)
            phrases += [NOT_EVALUATED] * len(entry.lists)
        else:
            owners = range(ends[code], ends[code + 1])
            if len(entry.lists) != len(owners):
                message = f"{len(entry.lists)} lists where this sentence has {len(owners)} evaluated phrases"
                document.wrong(f"{entry.path}.boxes", message, image=entry.image)
            phrases += owners
        seen.add(entry.sentence)
    for sentence in waiting:
        image, _, number = sentence.rpartition("#")
        document.wrong(TOP, f"sentence {number} of {image} is missing", code="missing_image", image=image)
    document.findings.notice("unknown_sentence", "sentences that are not evaluated were ignored", extra)
    return phrases


def _note_stranger(document: Document, entry: Entry, truth: Truth, *, told_before: bool) -> None:
    if told_before:
        document.wrong(entry.path, "this sentence was told before", code="duplicate_image", image=entry.image)
    elif truth.flags["images_listed"] and entry.image not in truth.image_codes:
        message = f"image {entry.image[:60]!r} is not in this challenge's list of images"
        document.wrong(entry.path, message, code="unknown_image", image=entry.image)
