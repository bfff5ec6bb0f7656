"""What every track's module provides, and what they all do alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Limits, Track
from evaluator.files.notices import notice_oddities
from evaluator.files.submission import Table, Vocabularies, Vocabulary
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.truth import Truth

Progress = Callable[[str, float], None]
Splits = dict[str, SplitReport]


class ReadableWay(Exception):
    """A submission needs the readable reader and scorer; the message says what for."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """How a submission is to be read by kernels."""

    path: Path
    limits: Limits
    threads: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class Contest:
    """What a track can do; its declaration stands in ``evaluator.catalog``.

    ``vocabularies``, ``inspect`` and ``evaluate`` are the readable way. ``streaming`` names a module with the fast one:
    ``stream(truth, Streaming, parameters, findings)`` returns the same splits or raises ReadableWay. Only its name is
    known here, because machine code takes longer to load than a small file to score.
    """

    track: Track
    vocabularies: Callable[[Truth], Vocabularies]
    inspect: Callable[[Table, Findings], None]
    evaluate: Callable[[Truth, Table, Mapping[str, Any], Progress], Splits]
    streaming: str


def contains(sorted_keys: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell for each key whether it is among the sorted ones.

    >>> contains(np.array([2, 5]), np.array([5, 6]))
    array([ True, False])
    """
    if not len(sorted_keys):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[at] == keys)


def vocabularies_of(truth: Truth) -> dict[str, Vocabulary]:
    """Return the image ids and labels that a truth knows."""
    return {
        "image": Vocabulary(truth.image_codes, closed=truth.flags["images_listed"]),
        "label": Vocabulary(truth.label_codes, closed=truth.flags["labels_listed"]),
    }


def notice_boxes(
    findings: Findings,
    confidences: NDArray[np.float64],
    boxes: list[NDArray[np.float64]],
    unknown_labels: NDArray[np.bool_],
) -> None:
    """Count what is scored by the rules but was hardly meant."""
    inverted, outside = np.zeros(len(confidences), bool), np.zeros(len(confidences), bool)
    for corners in boxes:
        inverted |= (corners[:, 0] >= corners[:, 1]) | (corners[:, 2] >= corners[:, 3])
        outside |= ((corners < 0) | (corners > 1)).any(axis=1)
    notice_oddities(
        findings,
        inverted=int(inverted.sum()),
        outside=int(outside.sum()),
        beyond=int(((confidences < 0) | (confidences > 1)).sum()),
        unknown_labels=int(unknown_labels.sum()),
    )
