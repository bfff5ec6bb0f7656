"""Reads a submission of ranked lists in JSON."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain, filterfalse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.documents import TOP, Document, without_garbage_collection
from evaluator.files.notices import notice_nothing_to_score
from evaluator.files.source import Source
from evaluator.problems import Problem, Stop
from evaluator.tracks.retrieval.truth import DIRECTIONS, Direction, Queries, RetrievalTruth

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


@without_garbage_collection()
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
    answers = sum(map(len, lists if all(valid) else [ids for ids in lists if isinstance(ids, list)]))
    if answers > source.limits.boxes:
        source.findings.stop_at(Problem("too_many_rows", f"more than {source.limits.boxes:,} answers"))
    if not all(valid):
        return {}
    ranks = {direction: _ranks(document, truth, direction) for direction in DIRECTIONS} if truth else {}
    if not source.findings.total:
        notice_nothing_to_score(source.findings, answers, answers)
    return ranks


def _check_lists(document: Document, lists: Mapping[str, Any], path: str) -> bool:
    """Return whether all values are lists of distinct strings. Record a defect for every other value."""
    if _are_valid(lists.values()):
        return True
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
    return False


def _are_valid(lists: Collection[Any]) -> bool:
    if not (set(map(type, lists)) <= {list} and set(map(type, chain.from_iterable(lists))) <= {str}):
        return False
    return sum(map(len, map(set, lists))) == sum(map(len, lists))


def _ranks(document: Document, truth: RetrievalTruth, direction: Direction) -> QueryRanks:
    """Return the rank of the first correct answer to each query. Record defects for missing queries and unknown ids."""
    queries, lists = truth.queries(direction), document.value[direction]
    images = [queries.images.get(query, -1) for query in lists]
    has_all_queries = len(images) == len(queries.images) and min(images, default=0) >= 0
    if not (has_all_queries and queries.answers.issuperset(chain.from_iterable(lists.values()))):
        _add_defects(document, queries, lists, f"{TOP}.{direction}")
        return QueryRanks(np.zeros(0, np.int64), np.zeros(0, np.int64), complete=False)
    # Every answer is looked up, so that the time does not reveal the rank of the first correct answer.
    positions = [
        bytes(map(queries.correct[image].__contains__, ids)).find(True)
        for image, ids in zip(images, lists.values(), strict=True)
    ]
    ranks = np.array(positions, np.int64)
    complete = set(map(len, lists.values())) <= {len(queries.answers)}
    return QueryRanks(np.array(images, np.int64), np.where(ranks < 0, NEVER, ranks), complete)


def _add_defects(document: Document, queries: Queries, lists: Mapping[str, list[str]], path: str) -> None:
    """Record defects for missing queries, unknown queries, and unknown ids in the lists of the other queries."""
    for query in filterfalse(lists.__contains__, queries.images):
        document.add_defect(path, f"query {query[:60]!r} is missing", code="missing_image", image=query)
    for query in filterfalse(queries.images.__contains__, lists):
        document.add_defect(
            f"{path}.{query[:60]}", "this query is not in the gallery", code="unknown_image", image=query
        )
    for query in queries.images:
        for index, each in enumerate(lists.get(query, ())):
            if each not in queries.answers:
                message = f"{each[:60]!r} is not in the gallery"
                document.add_defect(f"{path}.{query}[{index}]", message, code="unknown_image", image=query)
