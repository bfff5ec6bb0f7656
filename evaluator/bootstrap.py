"""Computes bootstrap replicates of every metric on every split, and the resulting confidence intervals."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from typing import cast

import numpy as np

from evaluator.catalog import TRACKS
from evaluator.derived import derived
from evaluator.digits import Interval
from evaluator.draws import Draws, Weights, blocks_of
from evaluator.metrics.bootstrap import Numbers, recentred_interval
from evaluator.metrics.resampling import CurveSteps, ImageGroups, ImageRows, rows_of_images
from evaluator.metrics.share_intervals import Trials, share_interval
from evaluator.report import SplitReport
from evaluator.request import Bootstrap, Progress, Resources
from evaluator.tracks.interface import Engine, Outcome, Splits, Statistics
from evaluator.truth import Truth

KERNELS = "evaluator.kernels.curves.bootstrap"
# The bootstrap keeps the sums of the replicates for each group of images if there are at most this many groups.
# Otherwise, it would need too much memory: 8 KiB for each group with 1,000 replicates.
MOST_GROUPS = 2_000
# The position of a split in this tuple is part of the random seed of its bootstrap replicates, so the order must not
# change.
SPLITS = ("all", "public", "private")


def with_intervals(truth: Truth, outcome: Outcome, bootstrap: Bootstrap, resources: Resources) -> Splits:
    """Return the reports of all splits of a scored submission, with bootstrap replicates and confidence intervals.

    If the public split contains every image, the replicates of the split ``all`` are reused for it. Its scores and
    intervals are then equal to those of ``all``.
    """
    if outcome.statistics is None:
        raise ValueError("intervals require per-image statistics")
    everything = truth.splits["all"]
    distinct = [name for name in outcome.splits if name == "all" or not np.array_equal(truth.splits[name], everything)]
    found: dict[str, dict[str, Numbers]] = {}
    for done, name in enumerate(distinct):
        part = replace(resources, progress=_progress_of_part(resources.progress, done, len(distinct)))
        found[name] = _replicates(truth, outcome.statistics, name, bootstrap, part)
    return {
        name: _with_replicates(report, found.get(name, found["all"]), truth, outcome, name)
        for name, report in outcome.splits.items()
    }


def _replicates(
    truth: Truth,
    statistics_of: Callable[[ImageRows], Statistics],
    split: str,
    bootstrap: Bootstrap,
    resources: Resources,
) -> dict[str, Numbers]:
    """Return the values of each metric in the bootstrap replicates of a split, as arrays of shape (replicates,)."""
    resources.progress("bootstrapping", 0.0)
    in_split = truth.splits[split]
    images = int(in_split.sum())
    draws = Draws(truth.sha256, SPLITS.index(split), bootstrap.seed, images, bootstrap.replicates, truth.salt)
    sums, statistics, block = engine(), statistics_of(rows_of_images(in_split)), blocks_of(draws, bootstrap.draws)
    parts: list[Mapping[str, Numbers]] = []

    def metrics(number: int) -> Mapping[str, Numbers]:
        return statistics.metrics(block(number), SumsOfTruth(sums, truth, (draws.file_name, number)))

    # If computing one block of bootstrap replicates fails, the remaining blocks are cancelled.
    with ThreadPoolExecutor(resources.threads) as pool:
        for part in pool.map(metrics, range(draws.blocks)):
            parts.append(part)
            resources.progress("bootstrapping", len(parts) / draws.blocks)
    return {name: np.concatenate([part[name] for part in parts])[: draws.replicates] for name in parts[0]}


@dataclass(frozen=True, slots=True)
class SumsOfTruth:
    """An engine that keeps the sums that depend only on the ground truth, so that later submissions reuse them.

    Attributes
    ----------
    engine : Engine
        Computes the sums that are not kept, and all areas under curves.
    truth : Truth
    block : (str, int)
        Identifies the block of bootstrap replicates: the file name of the draws of the split, and the index of the
        block.
    """

    engine: Engine
    truth: Truth
    block: tuple[str, int]

    def sums(self, weights: Weights, groups: ImageGroups) -> Numbers:
        """Return the total image weight of each group of images; see :meth:`Engine.sums`."""
        if not groups.name or len(groups.ends) > MOST_GROUPS:
            return self.engine.sums(weights, groups)
        return derived(self.truth, (groups.name, *self.block), lambda: self.engine.sums(weights, groups))

    def average_precisions(
        self, weights: Weights, steps: CurveSteps, positives: Numbers, partial_weight: float
    ) -> Numbers:
        """Return the area under each curve in each replicate; see :meth:`Engine.average_precisions`."""
        return self.engine.average_precisions(weights, steps, positives, partial_weight)


def engine() -> Engine:
    """Import and return the module with the compiled functions that compute bootstrap replicates.

    The module is imported only when needed, because the import takes a third of a second.
    """
    return cast(Engine, import_module(KERNELS))


def _with_replicates(
    report: SplitReport, replicates: Mapping[str, Numbers], truth: Truth, outcome: Outcome, split: str
) -> SplitReport:
    share_kinds = {metric.name: metric.share for metric in TRACKS[truth.track].metrics}

    def interval_of(name: str, observed: float) -> Interval | None:
        if not share_kinds[name]:
            return recentred_interval(replicates[name], observed, highest=outcome.highest.get(name, 1.0))
        if outcome.trials is None:
            raise ValueError(
                f"{name} is declared as a proportion, but the outcome of the track does not contain its trials"
            )
        images = outcome.trials(name)
        images = images[truth.splits[split][images]]
        trials = Trials(len(images), len(np.unique(images)))
        return share_interval(replicates[name], observed, trials, plain=share_kinds[name] == "plain")

    intervals = {
        name: interval
        for name, observed in report.metrics.items()
        if observed is not None and (interval := interval_of(name, observed)) is not None
    }
    return replace(report, intervals=intervals, replicates=replicates)


def _progress_of_part(progress: Progress, done: int, of: int) -> Progress:
    """Return a callback that converts the progress within the current split to the overall progress.

    All splits have the same weight. ``done`` is the number of completed splits, and ``of`` is the number of all splits.
    """
    return lambda stage, fraction: progress(stage, (done + fraction) / of)
