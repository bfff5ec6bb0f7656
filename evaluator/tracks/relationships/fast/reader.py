"""One thread of a relationships scoring: kernels and the memory that they work in."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.reading import (
    DONE,
    ENTRIES,
    IMAGES,
    NEGATIVE,
    ODD,
    PREDICTIONS,
    STRANGERS,
    UNCLAIMED,
    UNKNOWN_IMAGES,
)
from evaluator.kernels.relationships import state as kernels
from evaluator.kernels.relationships.readers import read_rows, read_strings
from evaluator.kernels.relationships.state import RelationshipState, RelationshipTruth
from evaluator.kernels.text.lookup import index_in
from evaluator.tracks.interface import ReadableWay
from evaluator.tracks.shared.fast import Bytes, Heading
from evaluator.truth import Truth

REASONS = {ODD: "something that is not plain", NEGATIVE: "negative confidences"}
BYTES_PER_PAIR = 24  # the shortest one: "0 a 0 0 0 0 b 0 0 0 0 c " or "a,b,c,d,0,0,0,0,0,0,0,0,0\n"
BYTES_PER_LINE = 3  # the shortest one: "a,\n"


def truth_of(truth: Truth) -> RelationshipTruth:
    """Return the truth as the kernels know it."""
    arrays = truth.arrays
    closed = np.array([truth.flags[f"{name}_listed"] for name in ("images", "labels", "relations")])
    closed.flags.writeable = False
    return RelationshipTruth(
        images=index_in(arrays, "images"),
        labels=index_in(arrays, "labels"),
        relations=index_in(arrays, "relations"),
        closed=closed,
        **{name: arrays[name] for name in RelationshipTruth._fields[4:]},
    )


class RelationshipReader:
    """What one thread has read."""

    def __init__(self, truth: RelationshipTruth, heading: Heading, parameters: Mapping[str, Any]) -> None:
        self.truth = truth
        self.heading = heading
        self.threshold: float = parameters["iou_threshold"]
        self.order = np.argsort(heading.positions).astype(np.int64)
        self.strangers: list[NDArray[np.uint64]] = []
        suitors = np.empty((2 * len(truth.triplets), kernels.SUITOR))
        suitors[:, 0] = UNCLAIMED
        self.state = RelationshipState(
            counts=np.zeros(kernels.COUNTS, np.int64),
            named=np.zeros(len(truth.usage), np.uint8),
            rows=np.zeros(len(truth.usage), np.int32),
            strangers=np.empty(0, np.uint64),
            suitors=suitors,
            takers=np.full(len(suitors), -1, np.int64),
            confidences=np.empty(0),
            images=np.empty(0, np.int32),
            relations=np.empty(0, np.int32),
        )

    @property
    def predictions(self) -> int:
        """How many were read."""
        return int(self.state.counts[PREDICTIONS])

    @property
    def images(self) -> int:
        """How many rows of images were read; in the long shape no fewer than the images that they name."""
        if self.heading.kaggle:
            return int(self.state.counts[IMAGES])
        return int(np.count_nonzero(self.state.named) + self.state.counts[UNKNOWN_IMAGES])

    @property
    def entries(self) -> int:
        """How many pairs count."""
        return int(self.state.counts[ENTRIES])

    def read(self, data: Bytes, stop: int) -> None:
        """Take the lines before ``stop``."""
        self._make_room(stop // BYTES_PER_PAIR + 1, lines=stop // BYTES_PER_LINE + 1)
        if self.heading.kaggle:
            status = read_strings(data, 0, stop, self.truth, self.state, self.threshold)
        else:
            codes, numbers = np.zeros(4, np.int64), np.zeros(9)
            status = read_rows(data, 0, stop, self.order, codes, numbers, self.truth, self.state, self.threshold)
        if status != DONE:
            raise ReadableWay(REASONS[status])
        if self.state.counts[STRANGERS]:
            self.strangers.append(self.state.strangers[: self.state.counts[STRANGERS]].copy())
            self.state.counts[STRANGERS] = 0

    def _make_room(self, entries: int, *, lines: int) -> None:
        """Let the state hold so many more; it at least doubles, so that copying costs little."""
        state, needed = self.state, self.entries + entries
        if needed > len(state.confidences):
            more = max(needed, 2 * len(state.confidences)) - self.entries
            grown = {name: _longer(getattr(state, name)[: self.entries], more) for name in state._fields[-3:]}
            self.state = state._replace(**grown)
        if self.heading.kaggle and lines > len(self.state.strangers):
            self.state = self.state._replace(strangers=np.empty(lines, np.uint64))


def _longer(array: NDArray[Any], by: int) -> NDArray[Any]:
    return np.concatenate([array, np.empty(by, array.dtype)])
