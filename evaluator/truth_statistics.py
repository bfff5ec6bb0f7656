"""Computes statistics of a ground truth on each split: counts, histograms and rankings of classes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.cells import shortened
from evaluator.problems import Findings, Problem
from evaluator.texts import counted
from evaluator.truth import Truth

Codes = NDArray[np.integer[Any]]
Masks = Mapping[str, NDArray[np.bool_]]

LISTED_ROWS = 300
"""Maximum number of rows in a ranking of classes, and in a list of unbalanced classes."""
CURVE_POINTS = 200
RARE = 10
"""A class is rare in a half (the public or the private images) if it has fewer objects than this number there."""
PER_IMAGE = (0, 1, 2, 3, 6, 11, 21, 51, 101)
SHARES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
SHOWN_LABELS = 5
PIXELS = (0, 32**2, 96**2, 192**2, 384**2)


@dataclass(frozen=True, slots=True)
class Count:
    """A statistic with one number per split. ``kind`` is ``number`` or, for a fraction from 0 to 1, ``share``."""

    title: str
    values: dict[str, float | None]
    kind: str = "number"


@dataclass(frozen=True, slots=True)
class Histogram:
    """The number of items in each bin, for each split. ``items`` is the plural noun for the counted items."""

    title: str
    items: str
    bins: list[str]
    values: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The number of objects of each class, for a ranking of the classes.

    Attributes
    ----------
    title, word : str
        The heading of the ranking, and the noun for what a row describes, such as ``class``.
    total : int
        Number of classes, including those without objects.
    missing, rare : dict of str to int
        For each half (public, private): the number of classes with no objects in this half, and the number of classes
        with 1 to 9 objects in it. Classes without any objects are not counted.
    curves : dict of str to list of pairs
        For each split: pairs of rank (from 1) and number of objects, for a selection of classes, in order of rank.
    rows, unbalanced : list of dict
        The classes with the most objects, and those that are missing or rare in one half, each with ``label``, ``name``
        and the number of objects on each split.
    """

    title: str
    word: str
    total: int
    missing: dict[str, int]
    rare: dict[str, int]
    curves: dict[str, list[tuple[int, int]]]
    rows: list[dict[str, Any]]
    unbalanced: list[dict[str, Any]]


@dataclass
class Statistics:
    """Collects the statistics of a ground truth: counts, histograms and rankings of items, such as boxes.

    In all methods, ``images`` contains the code of each item's image, which is the image's index in ``truth.images``.
    """

    truth: Truth
    counts: list[Count] = field(default_factory=list)
    histograms: list[Histogram] = field(default_factory=list)
    rankings: list[Ranking] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Add the number of images in each split as the first statistic."""
        self.counts.append(Count("Images", {name: int(chosen.sum()) for name, chosen in self.truth.splits.items()}))

    def count(self, title: str, images: Codes) -> None:
        """Add a statistic: the number of items, such as boxes, in each split."""
        self.counts.append(Count(title, {name: int(one[images].sum()) for name, one in self.truth.splits.items()}))

    def count_images(self, title: str, images: Codes) -> None:
        """Add a statistic: the number of images in each split that have at least one item, such as a box."""
        self.count(title, np.unique(images))

    def share(self, title: str, images: Codes, chosen: NDArray[np.bool_]) -> None:
        """Add a statistic: the fraction of a split's items that ``chosen`` selects; None for a split without items."""
        values: dict[str, float | None] = {}
        for name, in_split in self.truth.splits.items():
            of_split = chosen[in_split[images]]
            values[name] = float(of_split.mean()) if len(of_split) else None
        self.counts.append(Count(title, values, "share"))

    def per_image(self, title: str, images: Codes) -> None:
        """Add a histogram of the number of items, such as boxes, per image."""
        numbers = np.bincount(images, minlength=len(self.truth.images))
        self._histogram(title, "images", numbers, np.arange(len(numbers)), PER_IMAGE, _range_names(PER_IMAGE))

    def numbers(self, title: str, items: str, numbers: Codes, images: Codes) -> None:
        """Add a histogram of a number that describes each item, such as the number of boxes of a phrase."""
        self._histogram(title, items, numbers, images, PER_IMAGE, _range_names(PER_IMAGE))

    def sizes(self, title: str, items: str, shares: NDArray[np.float64], images: Codes) -> None:
        """Add a histogram of the areas of items such as boxes, given as fractions of the image area."""
        edges = [f"{100 * edge:g}" for edge in SHARES[1:]]
        names = [f"< {edges[0]}%", *(f"{low}–{high}%" for low, high in pairwise(edges))]
        self._histogram(title, items, shares, images, SHARES, [*names, f"≥ {edges[-1]}%"])

    def pixel_sizes(self, title: str, items: str, areas: NDArray[np.float64], images: Codes) -> None:
        """Add a histogram of the areas of items such as boxes, given in pixels."""
        sides = [f"{round(edge**0.5)}²" for edge in PIXELS[1:]]
        names = [f"< {sides[0]}", *(f"{low}–{high}" for low, high in pairwise(sides))]
        self._histogram(title, items, areas, images, PIXELS, [*names, f"≥ {sides[-1]}"])

    def _histogram(
        self, title: str, items: str, values: NDArray[Any], images: Codes, edges: Sequence[float], names: list[str]
    ) -> None:
        bins = np.maximum(np.searchsorted(np.array(edges), values, side="right") - 1, 0)
        counted = {
            name: np.bincount(bins[in_split[images]], minlength=len(edges)).tolist()
            for name, in_split in self.truth.splits.items()
        }
        self.histograms.append(Histogram(title, items, names, counted))

    def ranking(
        self, title: str, word: str, labels: Sequence[str], codes: Codes, images: Codes, names: Sequence[str] = ()
    ) -> None:
        """Add a ranking of classes by number of items. ``codes`` has an index into ``labels`` for each item."""
        by_split = {
            name: np.bincount(codes[in_split[images]], minlength=len(labels))
            for name, in_split in self.truth.splits.items()
        }
        used = by_split["all"] > 0
        halves = [name for name in ("public", "private") if "private" in by_split]
        is_missing = {half: used & (by_split[half] == 0) for half in halves}
        is_rare = {half: used & (by_split[half] < RARE) & ~is_missing[half] for half in halves}
        order = np.argsort(-by_split["all"], kind="stable")
        unbalanced = _unbalanced(order, is_missing, is_rare)

        def row(code: int) -> dict[str, Any]:
            name = names[code] if len(names) else labels[code]
            return {"label": labels[code], "name": name} | {one: int(found[code]) for one, found in by_split.items()}

        self.rankings.append(
            Ranking(
                title,
                word,
                len(labels),
                {half: int(found.sum()) for half, found in is_missing.items()},
                {half: int(found.sum()) for half, found in is_rare.items()},
                {name: _curve(found) for name, found in by_split.items()},
                [row(code) for code in order[: min(LISTED_ROWS, int(used.sum()))].tolist()],
                [row(code) for code in unbalanced[:LISTED_ROWS].tolist()],
            )
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the statistics as a JSON-serializable dict."""
        parts: Mapping[str, list[Any]] = {
            "counts": self.counts,
            "histograms": self.histograms,
            "rankings": self.rankings,
        }
        return {name: [asdict(one) for one in part] for name, part in parts.items()}


def add_balance_warnings(described: Mapping[str, Any], warnings: Findings) -> None:
    """Add a warning if one half (public or private) has no objects of some classes that the other half has.

    ``described`` is the result of :meth:`Statistics.as_dict`. Only the first ranking is checked.
    """
    for ranking in described["rankings"][:1]:
        for half, count in ranking["missing"].items():
            if count:
                labels = [row["label"] for row in ranking["unbalanced"] if not row[half]][:SHOWN_LABELS]
                words = f"{counted(count, ranking['word'])} with objects, but with none in {half} images"
                message = f"{words}, so without a score there: {', '.join(map(shortened, labels))}"
                warnings.add(Problem("truth_class_in_one_half", message, file="usage.csv"))


def box_areas(boxes: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the area of each box, shape (boxes,). Boxes are given as XMin, XMax, YMin, YMax."""
    return np.asarray((boxes[:, 1] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 2]), np.float64)


def _range_names(edges: Sequence[int]) -> list[str]:
    """Return names for the bins of a histogram of whole numbers, given their lower limits.

    >>> _range_names((0, 1, 3, 6))
    ['0', '1–2', '3–5', '≥ 6']
    """
    return [*(str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(edges)), f"≥ {edges[-1]}"]


def _unbalanced(order: Codes, is_missing: Masks, is_rare: Masks) -> Codes:
    """Return the classes with no objects in one half (public or private), then the classes rare in only one half."""
    none = np.zeros(len(order), bool)
    missing = np.logical_or.reduce([none, *is_missing.values()])
    rare = np.logical_xor.reduce([none, *is_rare.values()]) & ~missing
    return np.concatenate([order[missing[order]], order[rare[order]]])


def _curve(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return pairs of rank and count for at most CURVE_POINTS classes with objects, at evenly spaced ranks."""
    ordered = -np.sort(-counts[counts > 0])
    if not len(ordered):
        return []
    ranks = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), CURVE_POINTS)).round().astype(int))
    return [(int(rank) + 1, int(ordered[rank])) for rank in ranks]
