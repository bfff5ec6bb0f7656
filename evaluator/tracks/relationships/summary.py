"""A relationships split summed up, whichever way its curves were made."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.metrics.average_precision import mean_defined
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.truth import Truth

RECALL_AT = (50, 100)
Number = TypeVar("Number", float, NDArray[np.float64])


def objects(truth: Truth, in_split: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of triplets of each relation in a split, shape (relations,)."""
    chosen = truth.arrays["relations"][in_split[truth.arrays["images"]]]
    return np.bincount(chosen, minlength=len(truth.texts["relations"]))


def shown(truth: Truth, truths: NDArray[np.int64]) -> list[int]:
    """Return the relations that the rows of a split list: all of ``relations.csv``, or else those of its triplets.

    A row for any other relation would show participants what only private images have.

    Parameters
    ----------
    truths : int64 array of shape (relations,)
        Number of triplets of the split.
    """
    listed = truth.flags["relations_listed"]
    return list(range(len(truths))) if listed else np.flatnonzero(truths).tolist()


def combined(
    means: Sequence[Number], *, pooled: Sequence[Number], recalls: Sequence[Number], weights: tuple[float, float, float]
) -> dict[str, Number]:
    """Return every metric of a split, or of many replicates of it; see :func:`summary`."""
    return {
        "score": weights[0] * means[0] + weights[1] * recalls[0] + weights[2] * means[1],
        "mAP_relationships": means[0],
        "mAP_phrases": means[1],
        "recall@50": recalls[0],
        "recall@100": recalls[1],
        "weighted_ap_relationships": pooled[0],
        "weighted_ap_phrases": pooled[1],
    }


def summary(
    truth: Truth,
    truths: NDArray[np.int64],
    by_relation: Sequence[NDArray[np.float64]],
    *,
    pooled: Sequence[float],
    recalls: Sequence[float],
    weights: tuple[float, float, float],
) -> SplitReport:
    """Return the report of one split.

    Parameters
    ----------
    truths : int64 array of shape (relations,)
        Number of triplets.
    by_relation : two float64 arrays of shape (relations,)
        Average precisions of relationships and of phrases, NaN where undefined.
    pooled : two floats
        The same over all relations together.
    recalls : two floats
        At :data:`RECALL_AT`.
    weights : of the two means and, in the middle, the first recall
    """
    means = [mean_defined(values) for values in by_relation]
    metrics = combined(means, pooled=pooled, recalls=recalls, weights=weights)
    rows: list[ClassRow] = [
        {
            "label": truth.texts["relations"][relation],
            "name": truth.texts["relation_names"][relation],
            "ap_relationships": finite(by_relation[0][relation]),
            "ap_phrases": finite(by_relation[1][relation]),
            "truths": int(truths[relation]),
        }
        for relation in shown(truth, truths)
    ]
    return SplitReport(RELATIONSHIPS.headline, {name: finite(value) for name, value in metrics.items()}, rows)
