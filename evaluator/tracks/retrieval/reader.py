"""Reads a submission of ranked lists in JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.documents import TOP, Document
from evaluator.files.notices import notice_nothing_to_score
from evaluator.files.source import Source
from evaluator.problems import Problem, Stop
from evaluator.tracks.retrieval.truth import DIRECTIONS, Direction, RetrievalTruth

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class QueryRanks:
    """The queries of one direction (image or sentence queries), with the rank of the first correct answer to each.

    Attributes
    ----------
    images : int64 array of shape (N,)
        Code of the image of each query.
    ranks : int64 array of shape (N,)
        Rank of the first correct answer to each query, counted from 0; NEVER if the list has no correct answer.
    complete : bool
        Whether every list contains all answers of the gallery.
    """

    images: NDArray[np.int64]
    ranks: NDArray[np.int64]
    complete: bool


RanksByDirection = Mapping[Direction, QueryRanks]


def read_ranks(source: Source, truth: RetrievalTruth | None) -> RanksByDirection:
    """Read a submission, which must have a list for every query of the ground truth."""
    try:
        return _read(source, truth)
    except Stop:
        # Reading stopped at a defect in the submission. The defect is already in the findings.
        return {}


def _read(source: Source, truth: RetrievalTruth | None) -> RanksByDirection:
    document = Document(source)
    if not document.fields(document.value, dict.fromkeys(DIRECTIONS, dict), TOP):
        return {}
    valid = [_check_lists(document, document.value[direction], f"{TOP}.{direction}") for direction in DIRECTIONS]
    lists = [ids for direction in DIRECTIONS for ids in document.value[direction].values()]
    if sum(len(ids) for ids in lists if isinstance(ids, list)) > source.limits.boxes:
        source.findings.stop_at(Problem("too_many_rows", f"more than {source.limits.boxes:,} answers"))
    if not all(valid):
        return {}
    ranks = {direction: _ranks(document, truth, direction) for direction in DIRECTIONS} if truth else {}
    if not source.findings.total:
        answers = sum(map(len, lists))
        notice_nothing_to_score(source.findings, answers, answers)
    return ranks


def _check_lists(document: Document, lists: Mapping[str, Any], path: str) -> bool:
    """Return whether all values are lists of distinct strings. Record a defect for every other value."""
    before = document.findings.total
    for query, ids in lists.items():
        list_path = f"{path}.{query[:60]}"
        if not document.expect(ids, list, list_path):
            continue
        if set(map(type, ids)) <= {str}:
            if len(set(ids)) < len(ids):
                document.add_defect(list_path, "an id occurs twice in this list", image=query)
            continue
        for index, each in enumerate(ids):
            document.expect(each, str, f"{list_path}[{index}]")
    return document.findings.total == before


def _ranks(document: Document, truth: RetrievalTruth, direction: Direction) -> QueryRanks:
    """Return the rank of the first correct answer to each query. Record defects for missing queries and unknown ids."""
    queries, lists, path = truth.queries(direction), document.value[direction], f"{TOP}.{direction}"
    for query in (query for query in queries.images if query not in lists):
        document.add_defect(path, f"query {query[:60]!r} is missing", code="missing_image", image=query)
    for query in (query for query in lists if query not in queries.images):
        document.add_defect(
            f"{path}.{query[:60]}", "this query is not in the gallery", code="unknown_image", image=query
        )
    ranks = np.full(len(queries.images), NEVER)
    for row, (query, image) in enumerate(queries.images.items()):
        ids = lists.get(query, ())
        answers = np.fromiter((queries.answers.get(each, -1) for each in ids), np.int64, len(ids))
        for index in np.flatnonzero(answers < 0).tolist():
            message = f"{ids[index][:60]!r} is not in the gallery"
            document.add_defect(f"{path}.{query}[{index}]", message, code="unknown_image", image=query)
        right = queries.answer_images[answers] == image if not document.findings.total else np.zeros(0, bool)
        if right.any():
            ranks[row] = right.argmax()
    complete = all(len(lists.get(query, ())) == len(queries.answers) for query in queries.images)
    return QueryRanks(np.fromiter(queries.images.values(), np.int64, len(queries.images)), ranks, complete)
