"""A relationships score explained: what failed, and what became of every pair."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import Table
from evaluator.metrics.errors import RELATIONSHIP_KINDS, RIGHT
from evaluator.report import MatchTable, SplitReport
from evaluator.tracks.interface import Outcome
from evaluator.tracks.relationships.explain.errors import Verdicts, judged
from evaluator.tracks.relationships.scorer import Pairs, evaluated, match_phrases, match_relationships
from evaluator.tracks.relationships.summary import shown
from evaluator.tracks.relationships.triplets import FIRST, SECOND, classes_of
from evaluator.tracks.shared.report_tables import by_class, by_kind, error_sums, with_columns, with_rates
from evaluator.truth import USAGES, Truth

NAMES = ("LabelName1", "LabelName2", "RelationshipLabel")
COLUMNS = (
    *("Usage", "ImageID", *NAMES, "Score", *FIRST, *SECOND),
    *("Outcome", "PhraseOutcome", "Reason", "TruthLine", "Overlap"),
)
REASONS = (*RELATIONSHIP_KINDS, "unverified_class", "")
FIRST_LINE = 2  # of relationships.csv below its header


def explained(truth: Truth, table: Table, parameters: Mapping[str, Any], outcome: Outcome) -> Outcome:
    """Return the outcome with tables that explain it, and with what became of every pair.

    Class rows get precision, recall, F1 and support of relationships, what was ignored and missed, and false positives
    by kind (``fp_…``). The tables: ``averages``, ``errors`` and their ``error_sums``.
    """
    pairs, threshold = evaluated(truth, table), parameters["iou_threshold"]
    hits, phrases = match_relationships(truth, pairs, threshold), match_phrases(truth, pairs, threshold)
    verdicts = judged(truth, pairs, hits, threshold)
    splits = {
        name: _explained(truth, table, pairs, verdicts, report, truth.splits[name])
        for name, report in outcome.splits.items()
    }
    rows = partial(match_rows, truth, table, pairs, phrases, verdicts)
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, rows))


def _explained(
    truth: Truth,
    table: Table,
    pairs: Pairs,
    verdicts: Verdicts,
    report: SplitReport,
    in_split: NDArray[np.bool_],
) -> SplitReport:
    relations = len(truth.texts["relations"])
    evidence = verdicts.evidence(truth, pairs, in_split)
    true = np.bincount(evidence.curves, evidence.weights, relations + 1)[:relations].astype(float)
    predicted = np.bincount(evidence.curves, minlength=relations + 1)[:relations].astype(float)
    rows = shown(truth, evidence.truths[:relations].astype(np.int64))
    report = with_rates(report, true[rows], predicted[rows], evidence.truths[rows])
    ignored = (table.codes("RelationshipLabel") >= 0) & in_split[table.codes("image")]
    ignored[pairs.places] = False
    ignored &= known_classes(table)
    missed = (verdicts.missed != RIGHT) & in_split[truth.arrays["images"]]
    columns = {
        "ignored": np.bincount(table.codes("RelationshipLabel")[ignored], minlength=relations),
        "missed": np.bincount(truth.arrays["relations"][missed], minlength=relations),
        **by_class(evidence, RELATIONSHIP_KINDS),
    }
    tables = {
        **report.tables,
        "errors": by_kind(evidence, RELATIONSHIP_KINDS, "mAP_relationships"),
        "error_sums": error_sums(evidence, RELATIONSHIP_KINDS, "mAP_relationships"),
    }
    return replace(report, classes=with_columns(report.classes, truth.texts["relations"], columns), tables=tables)


def known_classes(table: Table) -> NDArray[np.bool_]:
    """Tell which predictions are of two classes that the truth knows, shape (N,); a notice counts the others."""
    return (table.codes("LabelName1") >= 0) & (table.codes("LabelName2") >= 0)


def match_rows(
    truth: Truth, table: Table, pairs: Pairs, phrases: NDArray[np.bool_], verdicts: Verdicts
) -> Iterator[tuple[Any, ...]]:
    """Yield a row of :data:`COLUMNS` for each pair of known classes, then one for each missed triplet.

    ``TruthLine`` is the line of relationships.csv that a pair hit or failed to hit; ``Overlap`` is the smaller of the
    two IoUs with it.
    """
    count = len(table.codes("image"))
    kinds, outcomes = np.full(count, len(RELATIONSHIP_KINDS)), np.full(count, "ignored", object)
    phrase_outcomes = outcomes.copy()
    triplets, overlaps = np.full(count, -1), np.zeros(count)
    kinds[pairs.places], triplets[pairs.places] = verdicts.kinds, verdicts.triplets
    overlaps[pairs.places] = verdicts.overlaps
    outcomes[pairs.places] = np.where(verdicts.kinds == RIGHT, "true_positive", "false_positive")
    phrase_outcomes[pairs.places] = np.where(phrases, "true_positive", "false_positive")
    known = np.flatnonzero(known_classes(table))
    yield from _rows(
        truth,
        table.codes("image")[known],
        tuple(table.codes(name)[known] for name in NAMES),
        table.numbers("Score")[known, 0].tolist(),
        table.numbers(*FIRST, *SECOND)[known],
        [outcomes[known], phrase_outcomes[known], kinds[known], triplets[known], overlaps[known]],
    )
    missed = np.flatnonzero(verdicts.missed != RIGHT)
    boxes = np.hstack([truth.arrays["first"][missed], truth.arrays["second"][missed]])
    none = np.full(len(missed), "", object)
    yield from _rows(
        truth,
        truth.arrays["images"][missed],
        classes_of(truth.texts, truth.arrays["triplets"][missed]),
        [""] * len(missed),
        boxes,
        [np.full(len(missed), "missed", object), none, verdicts.missed[missed], missed, np.zeros(len(missed))],
    )


def _rows(
    truth: Truth,
    images: NDArray[np.int64],
    classes: tuple[NDArray[np.int64], ...],
    scores: list[Any],
    boxes: NDArray[np.floating[Any]],
    told: list[NDArray[Any]],
) -> Iterator[tuple[Any, ...]]:
    names = [[*truth.texts["labels"], ""], [*truth.texts["labels"], ""], [*truth.texts["relations"], ""]]
    image_names, lines = list(truth.texts["images"]), (truth.arrays["rows"] + FIRST_LINE).tolist()
    usages = {code: usage for usage, code in USAGES.items()}
    for place, image in enumerate(images.tolist()):
        outcome, phrase, kind, triplet, overlap = (column[place] for column in told)
        yield (
            usages[int(truth.arrays["usage"][image])],
            image_names[image],
            *(name[codes[place]] for name, codes in zip(names, classes, strict=True)),
            scores[place],
            *map(str, boxes[place]),
            outcome,
            phrase,
            REASONS[kind],
            *((lines[triplet], float(overlap) or "") if triplet >= 0 else ("", "")),
        )
