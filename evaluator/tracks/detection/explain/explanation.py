"""A detection score explained: errors by kind, slices, the ablation, and what became of every box."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import Table
from evaluator.metrics.errors import CLASS, DETECTION_KINDS, RIGHT
from evaluator.report import ClassRow, MatchTable, SplitReport
from evaluator.tracks.detection.candidates import predicted, verified
from evaluator.tracks.detection.explain.ablation import ablation
from evaluator.tracks.detection.explain.errors import Verdicts, judged
from evaluator.tracks.detection.explain.match_rows import COLUMNS, match_rows
from evaluator.tracks.detection.explain.slices import slices
from evaluator.tracks.detection.matches import Detections, Matches
from evaluator.tracks.detection.scorer import CORNERS, matched
from evaluator.tracks.detection.summary import objects
from evaluator.tracks.detection.tables import with_rates
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.report_tables import by_class, by_kind, error_sums, with_columns
from evaluator.truth import Truth


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What was predicted of a truth, what it met there, and why it failed."""

    truth: Truth
    everything: Detections
    matches: Matches
    verdicts: Verdicts
    weight: float


def explained(truth: Truth, table: Table, parameters: Mapping[str, Any], outcome: Outcome) -> Outcome:
    """Return the outcome with tables that explain it, and with what became of every box.

    Class rows get precision, recall, F1 and support, how many detections were ignored, found a group or were absorbed,
    what was missed, and false positives by kind (``fp_…``). The tables: ``averages``, ``errors`` and their
    ``error_sums``, ``class_errors`` (which class was taken for which), ``slices``, and by the official protocol
    ``ablation``.
    """
    everything = predicted(truth, table, table.numbers(*CORNERS), parameters)
    everything = everything[everything.labels >= 0]
    weight = parameters["group_of_weight"]
    variants = ablation(truth, table, parameters) if parameters["protocol"] == "tfod" else {}
    counted, matches = matched(truth, table, parameters)
    matches = matches[verified(counted, matches.found)]
    verdicts = judged(counted, matches, parameters["iou_threshold"], weight)
    found = Evaluated(counted, everything, matches, verdicts, weight)
    splits = {name: _explained(found, report, name) for name, report in outcome.splits.items()}
    for name, rows in variants.items():
        splits[name] = replace(splits[name], tables={**splits[name].tables, "ablation": rows})
    return replace(
        outcome,
        splits=splits,
        matches=MatchTable(COLUMNS, partial(match_rows, counted, everything, matches, verdicts)),
    )


def _explained(found: Evaluated, report: SplitReport, split: str) -> SplitReport:
    truth, matches, verdicts = found.truth, found.matches, found.verdicts
    in_split, labels = truth.splits[split], truth.texts["labels"]
    evidence = verdicts.evidence(truth, matches, in_split, objects(truth, split, found.weight), found.weight)
    report = with_rates(truth, matches, report, in_split, found.weight)
    columns = {**_became(found, in_split), **by_class(evidence, DETECTION_KINDS)}
    tables = {
        **report.tables,
        "errors": by_kind(evidence, DETECTION_KINDS, "mAP"),
        "error_sums": error_sums(evidence, DETECTION_KINDS, "mAP"),
        "class_errors": _class_errors(found, in_split),
        "slices": slices(truth, matches, verdicts, in_split),
    }
    return replace(report, classes=with_columns(report.classes, labels, columns), tables=tables)


def _became(found: Evaluated, in_split: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return how many detections of each class were ignored, found a group or were absorbed, and what was missed.

    No detection is in two of these. What was missed is what there was to find less the true positives, so a group
    counts by its weight in all three.
    """
    arrays, labels = found.truth.arrays, len(found.truth.texts["labels"])
    ignored = np.ones(len(found.everything), bool)
    ignored[found.matches.found.places] = False
    ignored &= in_split[found.everything.images]
    inside = in_split[found.matches.found.images]
    group_found = found.matches.group_found
    missed = [
        arrays["box_keys"][found.verdicts.box_kinds != RIGHT],
        arrays["group_keys"][found.verdicts.group_kinds != RIGHT],
    ]
    images, classes = np.divmod(np.concatenate(missed), max(labels, 1))
    weights = np.repeat([1.0, found.weight], list(map(len, missed)))

    def number_of(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(found.matches.found.labels[chosen & inside], minlength=labels)

    return {
        "ignored": np.bincount(found.everything.labels[ignored], minlength=labels),
        "group_found": number_of(group_found),
        "absorbed": number_of(found.matches.absorbed & ~group_found),
        "missed": np.bincount(classes, weights * in_split[images], labels),
    }


def _class_errors(found: Evaluated, in_split: NDArray[np.bool_]) -> list[ClassRow]:
    """Return which class was taken for which, and how often; the most frequent first."""
    wrong = (found.verdicts.kinds == CLASS) & in_split[found.matches.found.images]
    names, labels = found.truth.texts["labels"], max(len(found.truth.texts["labels"]), 1)
    there = found.truth.arrays["box_keys"][found.verdicts.objects[wrong]] % labels
    pairs, counts = np.unique(there * labels + found.matches.found.labels[wrong], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [
        {"truth": names[pair // labels], "prediction": names[pair % labels], "count": count}
        for pair, count in zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
    ]
