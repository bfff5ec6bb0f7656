"""Intervals: the metrics of every split, recomputed for many drawn weights of its images."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy as np

from evaluator.catalog import TRACKS
from evaluator.draws import Draws, blocks_of
from evaluator.metrics.bootstrap import Interval, Numbers, recentred_interval
from evaluator.metrics.resampling import places_of
from evaluator.metrics.share_intervals import Trials, share_interval
from evaluator.problems import InvalidParameters
from evaluator.report import SplitReport
from evaluator.tracks.interface import Engine, Outcome, Progress, Splits
from evaluator.truth import Truth

KERNELS = "evaluator.kernels.bootstrap"
SPLITS = ("all", "public", "private")  # a split's place is part of its seed


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How replicates are drawn.

    Attributes
    ----------
    replicates : int
    seed : int
        From 0.
    folder : Path or None
        Where drawn weights are kept for other submissions; see :func:`evaluator.draws.blocks_of`.
    threads : int
        Any number gives the same replicates.

    Raises
    ------
    InvalidParameters
        A negative number.
    """

    replicates: int
    seed: int
    folder: Path | None
    threads: int

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        if self.replicates < 0 or self.seed < 0:
            raise InvalidParameters("bootstrap and its seed are whole numbers from 0")


def with_intervals(truth: Truth, outcome: Outcome, bootstrap: Bootstrap, progress: Progress) -> Splits:
    """Return the reports of an outcome, each metric with its replicates and, where it is defined, its interval.

    A split of the same images as ``all`` is drawn as ``all`` is, so that one score has one interval.
    """
    everything = truth.splits["all"]
    distinct = [name for name in outcome.splits if name == "all" or not np.array_equal(truth.splits[name], everything)]
    found: dict[str, dict[str, Numbers]] = {}
    for done, name in enumerate(distinct):
        tell = _share_of(progress, done, len(distinct))
        found[name] = _replicates(truth, outcome, name, bootstrap, tell)
    return {
        name: _completed(report, found.get(name, found["all"]), truth, outcome, name)
        for name, report in outcome.splits.items()
    }


def _replicates(
    truth: Truth, outcome: Outcome, split: str, bootstrap: Bootstrap, progress: Progress
) -> dict[str, Numbers]:
    """Return each metric in each replicate of a split, shape (replicates,)."""
    progress("bootstrapping", 0.0)
    in_split = truth.splits[split]
    images = int(in_split.sum())
    draws = Draws(truth.sha256, SPLITS.index(split), bootstrap.seed, images, bootstrap.replicates, truth.salt)
    sums, sample, block = engine(), outcome.sample(places_of(in_split)), blocks_of(draws, bootstrap.folder)
    parts: list[Mapping[str, Numbers]] = []
    with ThreadPoolExecutor(bootstrap.threads) as pool:  # whoever raises leaves the loop, which cancels what is left
        for part in pool.map(lambda number: sample.metrics(block(number), sums), range(draws.blocks)):
            parts.append(part)
            progress("bootstrapping", len(parts) / draws.blocks)
    return {name: np.concatenate([part[name] for part in parts])[: draws.replicates] for name in parts[0]}


def engine() -> Engine:
    """Return the kernels, loaded when they are needed: that takes a third of a second."""
    return cast(Engine, import_module(KERNELS))


def _completed(
    report: SplitReport, replicates: Mapping[str, Numbers], truth: Truth, outcome: Outcome, split: str
) -> SplitReport:
    kinds = {metric.name: metric.share for metric in TRACKS[truth.track].metrics}

    def interval_of(name: str, observed: float) -> Interval | None:
        if not kinds[name]:
            return recentred_interval(replicates[name], observed)
        images = outcome.trials(name)
        images = images[truth.splits[split][images]]
        trials = Trials(len(images), len(np.unique(images)))
        return share_interval(replicates[name], observed, trials, plain=kinds[name] == "plain")

    intervals = {
        name: interval
        for name, observed in report.metrics.items()
        if observed is not None and (interval := interval_of(name, observed)) is not None
    }
    return replace(report, intervals=intervals, replicates=replicates)


def _share_of(progress: Progress, done: int, of: int) -> Progress:
    return lambda stage, fraction: progress(stage, (done + fraction) / of)
