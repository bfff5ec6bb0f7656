"""Scores Flickr30k Entities grounding, for which a submission has a ranked list of boxes for each phrase."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import GROUNDING
from evaluator.files.source import Source
from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.boxes import intersection_over_union
from evaluator.metrics.matching import best_objects, highest_overlaps
from evaluator.metrics.resampling import crowded_images
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.request import Progress
from evaluator.tracks.grounding.reader import XYXY, RankedBoxes, read_boxes
from evaluator.tracks.grounding.truth import GroundingParameters, GroundingTruth
from evaluator.tracks.interface import Outcome, Scorer
from evaluator.tracks.shared.trials import TrialCounts, Trials
from evaluator.truth import Truth

NEVER = np.iinfo(np.int64).max
DEPTHS = {"recall@1": 1, "recall@5": 5, "recall@10": 10, "upper_bound": NEVER}


def first_hits(truth: GroundingTruth, ranked: RankedBoxes, parameters: GroundingParameters) -> NDArray[np.int64]:
    """Return, for each phrase, the rank of its first matching box, counted from 0, or NEVER; shape (phrases,)."""
    owners, boxes = truth.targets(parameters.box_rule)
    crowded = crowded_images(np.bincount(ranked.phrases, minlength=len(truth.phrase_images)))[ranked.phrases]
    few, many = np.flatnonzero(~crowded), np.flatnonzero(crowded)
    overlap = np.empty(len(crowded))
    _, overlap[few] = best_objects(
        ranked.phrases[few],
        owners,
        lambda ours, theirs: intersection_over_union(ranked.boxes[few[ours]], boxes[theirs]),
    )
    # For phrases with many predictions, `highest_overlaps` is used. Its running time hardly depends on the number of
    # ground truth boxes of a phrase, so it does not reveal this number.
    overlap[many] = highest_overlaps(ranked.phrases[many], ranked.boxes[many], owners, boxes)
    hits = overlap >= parameters.iou_threshold
    ranks = np.full(len(truth.phrase_images), NEVER)
    np.minimum.at(ranks, ranked.phrases[hits], ranked.ranks[hits])
    return ranks


def metrics(counts: TrialCounts) -> dict[str, Numbers]:
    """Return every metric: the proportion of phrases matched by one of the first K boxes (for each K) or by any box."""
    return counts.pooled_shares()


def split_report(truth: GroundingTruth, trials: Trials, split: str) -> SplitReport:
    """Return the score report for a split. A phrase with two types is counted in the rows of both types."""
    in_split = truth.splits[split]
    rows: list[ClassRow] = []
    for code, name in enumerate(truth.types):
        counts = trials[truth.has_type[:, code]].counts(in_split)
        # A phrase type that does not occur in the split is left out. Its row would show that it occurs in another
        # split.
        if counts.trials.any():
            recalls = {metric: finite(float(value)) for metric, value in metrics(counts).items()}
            rows.append({"label": name, "name": name.capitalize(), **recalls, "truths": int(counts.trials.sum())})
    values = {metric: finite(float(value)) for metric, value in metrics(trials.counts(in_split)).items()}
    return SplitReport(GROUNDING.headline, values, rows)


def _submission_text(truth: GroundingTruth, lists: Sequence[Sequence[Sequence[float]]]) -> str:
    """Return the content of a submission, given a list of boxes for each phrase."""
    starts = truth.phrase_starts.tolist()
    entries = []
    for code, sentence in enumerate(truth.sentences):
        image, _, number = sentence.rpartition("#")
        boxes = lists[starts[code] : starts[code + 1]]
        entries.append({"image_id": image, "sentence_id": int(number), "boxes": boxes})
    return json.dumps(entries)


class GroundingScorer(Scorer[GroundingTruth, GroundingParameters, RankedBoxes]):
    """Scores submissions to the grounding track of Flickr30k Entities."""

    track = GROUNDING

    def truth_of(self, prepared: Truth) -> GroundingTruth:
        """Return a prepared ground truth as an instance of this track's ground truth class."""
        return GroundingTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> GroundingParameters:
        """Return the parameters as an instance of this track's parameter class."""
        return GroundingParameters.of(resolved)

    def read(self, source: Source, truth: GroundingTruth | None, parameters: GroundingParameters) -> RankedBoxes:
        """Read a submission, which must have a list of boxes for each phrase of every sentence in the ground truth."""
        return read_boxes(source, truth)

    def evaluate(
        self, truth: GroundingTruth, ranked: RankedBoxes, parameters: GroundingParameters, progress: Progress
    ) -> Outcome:
        """Score the ranked lists of boxes in a submission on every split."""
        progress("matching", 0.0)
        ranks = first_hits(truth, ranked, parameters)
        trials = Trials.ungrouped(truth.phrase_images, {name: ranks < depth for name, depth in DEPTHS.items()})
        progress("scoring", 0.0)
        reports = truth.for_each_split(lambda split: split_report(truth, trials, split))
        return Outcome(reports, partial(trials.statistics, metrics), trials=lambda metric: trials.images)

    def template(self, truth: GroundingTruth) -> str:
        """Return the template submission, which has an empty list for each phrase of every sentence."""
        return _submission_text(truth, [[] for _ in truth.phrase_images])

    def ceiling(self, truth: GroundingTruth, parameters: GroundingParameters) -> str:
        """Return the best possible submission, in which every phrase has a matching box."""
        owners, boxes = truth.targets(parameters.box_rule)
        first = np.searchsorted(owners, np.arange(len(truth.phrase_images)))
        return _submission_text(truth, [[box] for box in boxes[first][:, XYXY].tolist()])


SCORER = GroundingScorer()
