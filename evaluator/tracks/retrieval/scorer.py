"""Scores Flickr30k retrieval submissions, which rank sentences for each image and images for each sentence."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RETRIEVAL
from evaluator.files.source import Source
from evaluator.metrics.bootstrap import Numbers
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.request import Progress
from evaluator.tracks.interface import GivesCandidates, Outcome, Scorer
from evaluator.tracks.retrieval.captions import shuffled
from evaluator.tracks.retrieval.reader import QueryRanks, RanksByDirection, read_ranks
from evaluator.tracks.retrieval.truth import DEPTHS, DIRECTIONS, RetrievalTruth
from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.tracks.shared.trials import TrialCounts, Trials
from evaluator.truth import Truth

RECALLS = tuple(f"recall@{depth}" for depth in DEPTHS)


def trials_of(ranked: RanksByDirection) -> Trials:
    """Return one trial for each query, grouped by the direction of the query.

    A trial is an attempt to answer a query. For each depth K, it is a hit if one of the first K answers is correct.
    """
    ranks = np.concatenate([ranked[direction].ranks for direction in DIRECTIONS])
    images = [ranked[direction].images for direction in DIRECTIONS]
    return Trials(
        np.concatenate(images),
        {name: ranks < depth for name, depth in zip(RECALLS, DEPTHS, strict=True)},
        np.repeat(np.arange(len(images)), [len(each) for each in images]),
        len(images),
    )


def metrics(counts: TrialCounts) -> dict[str, Numbers]:
    """Return every metric of the track: the recall at each depth in each direction, and the mean of these recalls."""
    shares = counts.shares()
    recalls = {
        f"{direction}_{name}": shares[name][group] for group, direction in enumerate(DIRECTIONS) for name in RECALLS
    }
    return {RETRIEVAL.headline: np.mean(list(recalls.values()), axis=0), **recalls}


def split_report(ranked: RanksByDirection, trials: Trials, in_split: NDArray[np.bool_]) -> SplitReport:
    """Return the score report for a split."""
    values = {name: finite(float(value)) for name, value in metrics(trials.counts(in_split)).items()}
    rows: list[ClassRow] = []
    for direction, title in DIRECTIONS.items():
        queries = ranked[direction]
        chosen = in_split[queries.images]
        rows.append(
            {
                "label": direction,
                "name": title,
                **{name: values[f"{direction}_{name}"] for name in RECALLS},
                "median_rank": median_rank(queries, chosen),
                "truths": int(chosen.sum()),
            }
        )
    return SplitReport(RETRIEVAL.headline, values, rows)


def median_rank(queries: QueryRanks, chosen: NDArray[np.bool_]) -> float | None:
    """Return the median rank, counted from 1, of the first correct answers to the selected queries.

    Return None if no query is selected, or if a list in the submission does not contain all possible answers.
    """
    return 1.0 + float(np.median(queries.ranks[chosen])) if queries.complete and chosen.any() else None


def trial_images(ranked: RanksByDirection, metric: str) -> NDArray[np.int64]:
    """Return the image of each query that a metric counts.

    Queries have two directions: sentences for an image, and images for a sentence. The mean recall counts the queries
    of both directions, any other metric those of one direction.
    """
    directions = [direction for direction in DIRECTIONS if metric.startswith(f"{direction}_")] or DIRECTIONS
    return np.concatenate([ranked[direction].images for direction in directions])


class RetrievalScorer(Scorer[RetrievalTruth, TrackParameters, RanksByDirection], GivesCandidates[RetrievalTruth]):
    """Scores submissions to the retrieval track of Flickr30k."""

    track = RETRIEVAL

    def truth_of(self, prepared: Truth) -> RetrievalTruth:
        """Return a prepared ground truth as an instance of this track's ground truth class."""
        return RetrievalTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> TrackParameters:
        """Return an empty object, because the track has no parameters."""
        return TrackParameters()

    def read(self, source: Source, truth: RetrievalTruth | None, parameters: TrackParameters) -> RanksByDirection:
        """Read a submission, which must have a list for every query of the ground truth."""
        return read_ranks(source, truth)

    def evaluate(
        self, truth: RetrievalTruth, ranked: RanksByDirection, parameters: TrackParameters, progress: Progress
    ) -> Outcome:
        """Score the lists in a submission on every split. Ranks in a split also count answers of other splits."""
        progress("scoring", 0.0)
        trials = trials_of(ranked)
        reports = truth.for_each_split(lambda split: split_report(ranked, trials, truth.splits[split]))
        return Outcome(reports, partial(trials.statistics, metrics), trials=partial(trial_images, ranked))

    def template(self, truth: RetrievalTruth) -> str:
        """Return the template submission, which has an empty list for each query, in shuffled order."""
        queries = {direction: shuffled(truth.queries(direction).images) for direction in DIRECTIONS}
        return json.dumps({direction: {query: [] for query in ids} for direction, ids in queries.items()})

    def ceiling(self, truth: RetrievalTruth, parameters: TrackParameters) -> str:
        """Return the best possible submission, which lists all correct answers to each query."""
        lists = {}
        for direction in DIRECTIONS:
            queries = truth.queries(direction)
            lists[direction] = {query: sorted(queries.correct[image]) for query, image in queries.images.items()}
        return json.dumps(lists)

    def candidates(self, truth: RetrievalTruth) -> str:
        """Return, as JSON, all images, and all captions with their sentences, both in shuffled order."""
        sentences = dict(zip(truth.captions, truth.sentences, strict=True))
        captions = [{"caption_id": caption, "text": sentences[caption]} for caption in shuffled(sentences)]
        return json.dumps({"images": shuffled(truth.images), "captions": captions}, indent=0, ensure_ascii=False)


SCORER = RetrievalScorer()
