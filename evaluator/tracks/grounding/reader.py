"""Reads a submission of ranked boxes in JSON as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.documents import TOP, Document, matrix, without_garbage_collection
from evaluator.files.notices import notice_fractions, notice_nothing_to_score
from evaluator.files.source import Source
from evaluator.metrics.boxes import is_inverted
from evaluator.problems import Findings, Problem, Stop
from evaluator.texts import counted
from evaluator.tracks.grounding.truth import GroundingTruth

KINDS = {"image_id": str, "sentence_id": int, "boxes": list}
XYXY = [0, 2, 1, 3]
"""Indices that reorder x1, y1, x2, y2 to x1, x2, y1, y2 (as in :mod:`evaluator.metrics.boxes`), and vice versa."""
NOT_EVALUATED = -1


@dataclass(frozen=True, slots=True)
class RankedBoxes:
    """The predicted boxes of the phrases in the ground truth.

    Attributes
    ----------
    phrases : int64 array of shape (N,)
        Phrase of each box.
    ranks : int64 array of shape (N,)
        Rank of each box in the list for its phrase, counted from 0.
    boxes : float64 array of shape (N, 4)
        x1, x2, y1 and y2 in pixels.
    """

    phrases: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    ranks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    boxes: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))


@dataclass(frozen=True, slots=True)
class SentenceEntry:
    """A sentence in a submission: its path in the JSON, its ids, and a list of boxes for each of its phrases."""

    path: str
    image: str
    sentence: str
    lists: list[Any]


@without_garbage_collection()
def read_boxes(source: Source, truth: GroundingTruth | None) -> RankedBoxes:
    """Read a submission, which must contain every sentence of the ground truth, and a list for each of its phrases."""
    try:
        return _read(source, truth)
    except Stop:
        # Reading stopped at a defect in the submission. The defect is already in the findings.
        return RankedBoxes()


def _read(source: Source, truth: GroundingTruth | None) -> RankedBoxes:
    document = Document(source)
    if not document.expect(document.value, list, TOP):
        return RankedBoxes()
    entries = _entries(document)
    boxes = _boxes(document, entries)
    limits = source.limits
    if len(boxes) > limits.boxes or len(entries) > limits.images:
        message = f"more than {limits.boxes:,} boxes or {limits.images:,} sentences"
        source.findings.stop_at(Problem("too_many_rows", message))
    if len(entries) < len(document.value):
        return RankedBoxes()
    lists = sum(len(entry.lists) for entry in entries)
    phrases_of_lists = _phrases(document, entries, truth) if truth else [*range(lists)]
    if source.findings.total:
        return RankedBoxes()
    sizes = np.array([len(ranked) for entry in entries for ranked in entry.lists], np.int64)
    # The JSON values need several times as much memory as the arrays, so they are deleted before the arrays are copied.
    del document, entries
    phrases = np.repeat(np.array(phrases_of_lists, np.int64), sizes)
    ranks = np.arange(len(boxes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    evaluated = phrases != NOT_EVALUATED
    phrases, ranks, boxes = phrases[evaluated], ranks[evaluated], boxes[evaluated]
    _add_notices(source.findings, boxes)
    return RankedBoxes(phrases, ranks, boxes)


def _add_notices(findings: Findings, boxes: NDArray[np.float64]) -> None:
    inverted = int(is_inverted(boxes).sum())
    findings.notice(
        "inverted_box",
        "boxes whose x1 is not below x2, or whose y1 is not below y2; they cannot match anything",
        inverted,
    )
    if not (boxes > 1).any():
        notice_fractions(findings, len(boxes))
    notice_nothing_to_score(findings, len(boxes), len(boxes) - inverted)


def _entries(document: Document) -> list[SentenceEntry]:
    """Return the sentences with valid keys and types. Record a defect for each invalid sentence."""
    entries: list[SentenceEntry] = []
    for index, value in enumerate(document.value):
        path = f"{TOP}[{index}]"
        if document.fields(value, KINDS, path):
            lists = [ranked for ranked in value["boxes"] if type(ranked) is list]
            if len(lists) < len(value["boxes"]):
                for phrase, ranked in enumerate(value["boxes"]):
                    document.expect(ranked, list, f"{path}.boxes[{phrase}]")
            entries.append(SentenceEntry(path, value["image_id"], f"{value['image_id']}#{value['sentence_id']}", lists))
    return entries


def _boxes(document: Document, entries: Sequence[SentenceEntry]) -> NDArray[np.float64]:
    """Return all boxes as x1, x2, y1, y2, shape (N, 4). Report invalid boxes as defects of the submission."""
    boxes = matrix([box for entry in entries for ranked in entry.lists for box in ranked], 4)
    if boxes is not None:
        return boxes[:, XYXY]
    for entry in entries:
        for phrase, ranked in enumerate(entry.lists):
            for rank, box in enumerate(ranked):
                _add_defects(document, box, f"{entry.path}.boxes[{phrase}][{rank}]")
    return np.zeros((0, 4))


def _add_defects(document: Document, box: Any, path: str) -> None:
    if not document.expect(box, list, path):
        return
    if len(box) != 4:
        document.add_defect(path, f"{counted(len(box), 'number')}; expected four: x1, y1, x2, y2")
    for corner, value in enumerate(box):
        document.expect_number(value, f"{path}[{corner}]")


def _phrases(document: Document, entries: Sequence[SentenceEntry], truth: GroundingTruth) -> list[int]:
    """Return the index of the phrase that each list of boxes belongs to. Record defects for invalid sentences.

    Lists for a sentence that is not in the ground truth get NOT_EVALUATED.
    """
    missing = {sentence: code for code, sentence in enumerate(truth.sentences)}
    starts = truth.phrase_starts.tolist()
    phrases: list[int] = []
    extra, seen = 0, set()
    for entry in entries:
        code = missing.pop(entry.sentence, None)
        if code is None:
            extra += 1
            _check_other_sentence(document, entry, truth, is_repeated=entry.sentence in seen)
            phrases += [NOT_EVALUATED] * len(entry.lists)
        else:
            own = range(starts[code], starts[code + 1])
            if len(entry.lists) != len(own):
                found = counted(len(entry.lists), "list")
                message = f"{found}; expected {len(own)}, one for each evaluated phrase of the sentence"
                document.add_defect(f"{entry.path}.boxes", message, image=entry.image)
            phrases += own
        seen.add(entry.sentence)
    for sentence in missing:
        image, _, number = sentence.rpartition("#")
        document.add_defect(TOP, f"sentence {number} of {image} is missing", code="missing_image", image=image)
    document.findings.notice("unknown_sentence", "sentences without an evaluated phrase were ignored", extra)
    return phrases


def _check_other_sentence(
    document: Document, entry: SentenceEntry, truth: GroundingTruth, *, is_repeated: bool
) -> None:
    if is_repeated:
        document.add_defect(entry.path, "this sentence occurs twice", code="duplicate_image", image=entry.image)
    elif truth.images_listed and entry.image not in truth.image_codes:
        message = f"image {entry.image[:60]!r} is not in this challenge's list of images"
        document.add_defect(entry.path, message, code="unknown_image", image=entry.image)
