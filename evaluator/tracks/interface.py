"""What every track's module provides, and what they all do alike."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Limits, Track
from evaluator.files.notices import notice_oddities, notice_unknown_labels
from evaluator.files.source import Source
from evaluator.files.submission import Table, Vocabulary
from evaluator.metrics.bootstrap import Numbers, Weights
from evaluator.metrics.resampling import Groups, Places, Steps
from evaluator.problems import Findings, Problem, Stop
from evaluator.report import CurveRow, MatchTable, SplitReport
from evaluator.truth import Truth

Progress = Callable[[str, float], None]
Splits = dict[str, SplitReport]


class ReferenceNeeded(Exception):
    """The fast path cannot score a submission: the reference implementation is needed. The message says why."""


@dataclass(frozen=True, slots=True)
class ScoringRequest:
    """A submission to score, and how.

    Attributes
    ----------
    path : Path
    limits : Limits
    threads : int
    progress : callable
    keeps_images : bool
        Whether the outcome must have curves and a sample for replicates.
    explains : bool
        Whether the outcome must be explained.
    """

    path: Path
    limits: Limits
    threads: int
    progress: Progress
    keeps_images: bool = False
    explains: bool = False


class Engine(Protocol):
    """The two sums that metrics are folded from, by kernels or by numpy: see :mod:`evaluator.metrics.bootstrap`."""

    def sums(self, weights: Weights, groups: Groups) -> Numbers:
        """Return what the images of each group count, shape (groups, replicates)."""

    def average_precisions(self, weights: Weights, steps: Steps, truths: Numbers, part: float) -> Numbers:
        """Return the area under each curve, shape (curves, replicates)."""


class Sample(Protocol):
    """What the metrics of one split are folded from, image by image."""

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return every metric of the track for other weights of the images.

        Parameters
        ----------
        weights : uint8 array of shape (images of the split, replicates)
        engine : Engine

        Returns
        -------
        mapping of str to float64 array of shape (replicates,), NaN where undefined
        """


def no_sample(places: Places) -> Sample:
    """Stand for the sample where nobody asked for one."""
    raise RuntimeError("images were not kept")


def no_trials(metric: str) -> NDArray[np.integer[Any]]:
    """Stand for the trials of a track that declares no shares."""
    raise RuntimeError(f"{metric} is no share of trials")


def no_curves(split: str) -> list[CurveRow]:
    """Stand for the curves where there are none."""
    return []


def no_candidates(truth: Truth) -> str:
    """Stand for the candidates of a track that declares none."""
    raise RuntimeError(f"{truth.track} has no candidates")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found in a submission.

    Attributes
    ----------
    splits : mapping of str to SplitReport
    sample : callable
        Gives the sample of the images that have a place; :func:`no_sample` where images were not kept, or where a track
        has none.
    curves : callable
        Gives the precision/recall curves of a split; none where images were not kept, or where a track has none.
    matches : MatchTable
        What became of each prediction, where an explanation was asked for.
    trials : callable
        Gives the image of each trial of a metric that is declared as a share, int array of shape (trials,).
    """

    splits: Splits
    sample: Callable[[Places], Sample] = no_sample
    curves: Callable[[str], list[CurveRow]] = no_curves
    matches: MatchTable = field(default_factory=MatchTable)
    trials: Callable[[str], NDArray[np.integer[Any]]] = no_trials


@dataclass(frozen=True, slots=True)
class Contest:
    """What a track can do; its declaration stands in ``evaluator.catalog``.

    Attributes
    ----------
    track : Track
    compiler : str
        Module whose ``compile_truth(folder, parameters)`` makes the prepared truth. Only its name is known here: it may
        need what takes long to load, and a prepared truth is scored without it.
    read : callable
        Reads a submission; of use only where the source's findings then hold no defect. Without a truth only the form
        is checked.
    evaluate : callable
        Scores what ``read`` returned on every split.
    blank : callable
        The text of a submission that names everything and predicts nothing: a form to fill in.
    ceiling : callable
        The text of the best submission that there can be: the truth itself.
    fast_path : str
        Module of the fast path; empty if the track has none. Its ``score(truth, request, parameters, findings)``
        returns the same outcome as ``read`` and ``evaluate``, or raises ReferenceNeeded. Only its name is known here,
        because loading machine code takes longer than scoring a small file.
    candidates : callable
        The text of a file with everything that a submission may choose from, for tracks that declare
        ``gives_candidates``.
    explaining : str
        Module whose ``explained(truth, what was read, parameters, outcome)`` returns the outcome with more in it.
    """

    track: Track
    compiler: str
    read: Callable[[Source, Truth | None, Mapping[str, Any]], Any]
    evaluate: Callable[[Truth, Any, Mapping[str, Any], Progress], Outcome]
    blank: Callable[[Truth], str]
    ceiling: Callable[[Truth, Mapping[str, Any]], str]
    fast_path: str = ""
    explaining: str = ""
    candidates: Callable[[Truth], str] = no_candidates


def on_every_split(truth: Truth, fold: Callable[[str], SplitReport]) -> Splits:
    """Fold each split, by its name; where every image is public, only once."""
    reports: Splits = {}
    for name, in_split in truth.splits.items():
        twin = reports.get("all") if np.array_equal(in_split, truth.splits["all"]) else None
        reports[name] = twin or fold(name)
    return reports


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a CSV file; without a header where it has no names.

    >>> csv_text(("a", "b"), [(1, "x,y")])
    'a,b\n1,"x,y"\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header] if header else [])
    writer.writerows(rows)
    return text.getvalue()


def blank_strings(track: Track) -> Callable[[Truth], str]:
    """Return what writes a row with an empty prediction string for every image."""
    return lambda truth: csv_text(track.form.kaggle_header, ((image, "") for image in truth.texts["images"]))


def contains(sorted_keys: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell for each key whether it is among the sorted ones.

    >>> contains(np.array([2, 5]), np.array([5, 6]))
    array([ True, False])
    """
    if not len(sorted_keys):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[at] == keys)


def vocabularies_of(truth: Truth | None) -> dict[str, Vocabulary]:
    """Return the image ids and labels that a truth knows; without a truth nothing is known."""
    if truth is None:
        return {}
    return {
        "image": Vocabulary(truth.image_codes, closed=truth.flags["images_listed"]),
        "label": vocabulary_of(truth.label_codes, closed=truth.flags["labels_listed"]),
    }


def vocabulary_of(index: Mapping[str, int], *, closed: bool) -> Vocabulary:
    """Return known labels or relations; an open list has none that would be too long if it were unknown."""
    if not closed:
        index = {text: code for text, code in index.items() if len(text) <= Limits().text_characters}
    return Vocabulary(index, closed=closed)


def listed_labels(truth: Truth) -> tuple[int, bool]:
    """Return how many labels, the first ones, are no unknown ones, and whether a public list says which they are.

    The list is ``classes.csv``, or else the hierarchy. Without both the labels are those that somebody annotated.
    """
    if not truth.flags["labels_listed"] and "listed_labels" in truth.arrays:
        return int(truth.arrays["listed_labels"][0]), True
    return len(truth.texts["labels"]), truth.flags["labels_listed"]


def shown_labels(truth: Truth, split: str) -> list[int]:
    """Return the labels that the rows of a split list: all of ``classes.csv``, or else those verified in its images.

    A row for any other label would show participants what only private images have.
    """
    labels = len(truth.texts["labels"])
    if truth.flags["labels_listed"]:
        return list(range(labels))
    images, verified = np.divmod(truth.arrays["verified"], max(labels, 1))
    return np.flatnonzero(np.bincount(verified[truth.splits[split][images]], minlength=labels)).tolist()


def require_all_images(truth: Truth, table: Table, findings: Findings) -> None:
    """Add a defect for every image that the submission does not name, as far as defects are counted."""
    missing = (image for code, image in enumerate(truth.texts["images"]) if code not in table.named)
    with suppress(Stop):
        for image in missing:
            message = f"image {image} has no row; every image of the test set must have one"
            findings.add(Problem("missing_image", message, image=image))


def notice_boxes(
    findings: Findings,
    truth: Truth | None,
    confidences: NDArray[np.float64],
    boxes: list[NDArray[np.float64]],
    labels: Sequence[NDArray[np.int64]],
) -> None:
    """Count what is scored by the rules but was hardly meant.

    Parameters
    ----------
    confidences : float64 array of shape (N,)
    boxes : list of float64 arrays of shape (N, 4)
    labels : codes of each prediction, one array of shape (N,) for each label that it has
    """
    if truth is None:
        return  # it has no images yet, so nothing was read of them
    inverted, outside = np.zeros(len(confidences), bool), np.zeros(len(confidences), bool)
    for corners in boxes:
        inverted |= (corners[:, 0] >= corners[:, 1]) | (corners[:, 2] >= corners[:, 3])
        outside |= ((corners < 0) | (corners > 1)).any(axis=1)
    notice_oddities(
        findings,
        inverted=int(inverted.sum()),
        outside=int(outside.sum()),
        beyond=int(((confidences < 0) | (confidences > 1)).sum()),
    )
    known, listed = listed_labels(truth)
    unknown = np.any([(codes < 0) | (codes >= known) for codes in labels], axis=0)
    notice_unknown_labels(findings, int(unknown.sum()), listed=listed)
