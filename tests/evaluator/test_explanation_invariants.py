"""Tests invariants of score explanations (error kinds, slices) on random challenges with many ties and duplicates."""

import math
import random
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.metrics.average_precision import average_precision
from evaluator.problems import InvalidSubmission
from evaluator.report import Report, SplitReport
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import score
from tests.evaluator.kernels import cases

DETECTION, RELATIONSHIPS = "openimages-detection", "openimages-relationships"
PARAMETERS: list[dict[str, Any]] = [
    {},
    {"group_of_weight": 0.0},
    {"group_of_weight": 0.3},
    {"iou_threshold": 0.3},
    {"expand_predictions": True},
    {"expand_hierarchy": False},
    {"protocol": "fiftyone"},
]
fuzzed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def drawn(track: str, seed: int, folder: Path) -> tuple[Path, Path]:
    chance, submission = random.Random(seed), folder / "submission.csv"
    submission.write_bytes(cases.FILES[track](chance))
    return cases.TRUTHS[track](chance, Path(mkdtemp(dir=folder)) / "truth"), submission


def explained(track: str, seed: int, folder: Path, parameters: dict[str, Any]) -> tuple[Report, Report] | None:
    files = drawn(track, seed, folder)
    try:
        plain = score(ScoringRequest(track, *files, parameters=parameters))
    except InvalidSubmission:
        return None
    return plain, score(
        ScoringRequest(track, *files, parameters=parameters, report=ReportOptions(curves=True, matches=True))
    )


def rows_of(report: Report) -> list[dict[str, Any]]:
    return [dict(zip(report.matches.columns, row, strict=True)) for row in report.matches.rows()]


def in_split(rows: list[dict[str, Any]], split: str) -> list[dict[str, Any]]:
    usages = {"all": ("public", "private"), "public": ("public",), "private": ("private",)}[split]
    return [row for row in rows if row["Usage"] in usages]


def check_errors(split: SplitReport, rows: list[dict[str, Any]], *, label: str, weight: float = 1.0) -> None:
    """Check that every false positive and every miss is counted as exactly one kind of error.

    The check applies to the whole split and to each class.
    """
    errors = {row["kind"]: row for row in split.tables["errors"]}
    false = Counter(row["Reason"] for row in rows if row["Outcome"] == "false_positive")
    missed = Counter(row["Reason"] for row in rows if row["Outcome"] == "missed")
    assert {kind: row["false_positives"] for kind, row in errors.items()} == {kind: false[kind] for kind in errors}
    groups = {kind: missed[kind] * (weight if kind == "group_of" else 1) for kind in errors}
    assert {kind: row["misses"] for kind, row in errors.items()} == pytest.approx(groups)
    assert set(false) | set(missed) <= set(errors)
    for row in split.classes:
        mine = [match for match in rows if match[label] == row["label"]]
        outcomes = Counter(match["Outcome"] for match in mine)
        kinds = Counter(match["Reason"] for match in mine if match["Outcome"] == "false_positive")
        assert sum(value for name, value in row.items() if name.startswith("fp_")) == outcomes["false_positive"]
        assert all(row[f"fp_{kind}"] == kinds[kind] for kind in errors if kind != "missed")
        groups_missed = sum(match["Outcome"] == "missed" and match["Reason"] == "group_of" for match in mine)
        assert row["ignored"] == outcomes["ignored"]
        assert row["missed"] == pytest.approx(outcomes["missed"] - (1 - weight) * groups_missed)
    gains = [row[next(name for name in row if name.startswith("delta_"))] for row in errors.values()]
    assert all(gain is None or gain >= -1e-12 for gain in gains)


def recomputed(rows: list[dict[str, Any]], weight: float, truths: float, hit: str = "Outcome") -> float | None:
    """Return the average precision of a class, computed only from the rows of the match table."""
    weights = {"true_positive": 1.0, "group_found": weight, "false_positive": 0.0}
    entries = [(float(row["Score"]), weights[row[hit]]) for row in rows if row[hit] in weights]
    confidences, found = (np.array(column, float) for column in zip(*entries, strict=True)) if entries else ([], [])
    area = average_precision(np.asarray(confidences), np.asarray(found), truths)
    return None if math.isnan(area) else area


@fuzzed
@given(seed=st.integers(0, 2**48), parameters=st.sampled_from(PARAMETERS))
def test_explanations_of_detection_account_for_every_outcome(
    seed: int, parameters: dict[str, Any], tmp_path: Path
) -> None:
    reports = explained(DETECTION, seed, tmp_path, parameters)
    if reports is None:
        return
    plain, report = reports
    weight = parameters.get("group_of_weight", 1.0)
    everything = rows_of(report)
    for name, split in report.splits.items():
        rows = in_split(everything, name)
        assert split.metrics == plain.splits[name].metrics
        check_errors(split, rows, label="LabelName", weight=weight)
        for row, before in zip(split.classes, plain.splits[name].classes, strict=True):
            assert {column: row[column] for column in before} == before
            mine = [match for match in rows if match["LabelName"] == row["label"]]
            outcomes = Counter(match["Outcome"] for match in mine)
            found = outcomes["true_positive"] + weight * outcomes["group_found"]
            assert row["true_positives"] == pytest.approx(found)
            assert row["false_positives"] == outcomes["false_positive"]
            assert row["missed"] == pytest.approx(row["truths"] - row["true_positives"])
            assert (row["group_found"], row["absorbed"]) == (outcomes["group_found"], outcomes["absorbed"])
            assert recomputed(mine, weight, row["truths"]) == row["ap"]
        check_slices(split, rows)
        check_ablation(split, weight, hierarchy=parameters.get("expand_hierarchy", True))


def check_slices(split: SplitReport, rows: list[dict[str, Any]]) -> None:
    """Check that every object except group boxes is counted in exactly one size class."""
    sizes = [row for row in split.tables["slices"] if row["slice"] == "size"]
    assert sum(row["found"] for row in sizes) == sum(row["Outcome"] == "true_positive" for row in rows)
    missed = sum(row["Outcome"] == "missed" and row["Reason"] != "group_of" for row in rows)
    assert sum(row["truths"] - row["found"] for row in sizes) == missed
    assert all(
        row["truths"] - row["found"] == row["missed_class"] + row["missed_localization"] + row["missed"]
        for row in sizes
    )
    assert sum(row["false_positives"] for row in sizes) == sum(row["Outcome"] == "false_positive" for row in rows)


def check_ablation(split: SplitReport, weight: float, *, hierarchy: bool) -> None:
    """Check the ablation table, which lists the score for each variation of the parameters.

    The row for the actual parameters must have the same score as the report.
    """
    for row in split.tables.get("ablation", []):
        if row["non_exhaustive_labels"] and row["hierarchy"] == hierarchy and row["group_of_weight"] == weight:
            assert row["mAP"] == split.metrics["mAP"]


@fuzzed
@given(seed=st.integers(0, 2**48), weight=st.sampled_from([0.0, 1.0]))
def test_the_ablation_without_hierarchy_is_the_score_without_expansion(
    seed: int, weight: float, tmp_path: Path
) -> None:
    files = drawn(DETECTION, seed, tmp_path)
    parameters = {"group_of_weight": weight}
    try:
        report = score(ScoringRequest(DETECTION, *files, parameters=parameters, report=ReportOptions(matches=True)))
    except InvalidSubmission:
        return
    without = score(ScoringRequest(DETECTION, *files, parameters={**parameters, "expand_hierarchy": False}))
    for name, split in report.splits.items():
        rows = {
            (row["non_exhaustive_labels"], row["hierarchy"], row["group_of_weight"]): row
            for row in split.tables["ablation"]
        }
        assert rows[True, False, weight]["mAP"] == without.splits[name].metrics["mAP"]


@fuzzed
@given(seed=st.integers(0, 2**48), threshold=st.sampled_from([0.5, 0.3]))
def test_explanations_of_relationships_account_for_every_outcome(seed: int, threshold: float, tmp_path: Path) -> None:
    reports = explained(RELATIONSHIPS, seed, tmp_path, {"iou_threshold": threshold})
    if reports is None:
        return
    plain, report = reports
    everything = rows_of(report)
    for name, split in report.splits.items():
        rows = in_split(everything, name)
        assert split.metrics == plain.splits[name].metrics
        check_errors(split, rows, label="RelationshipLabel")
        for row in split.classes:
            mine = [match for match in rows if match["RelationshipLabel"] == row["label"]]
            assert recomputed(mine, 1.0, row["truths"]) == row["ap_relationships"]
            assert recomputed(mine, 1.0, row["truths"], "PhraseOutcome") == row["ap_phrases"]
            hits = sum(match["Outcome"] == "true_positive" for match in mine)
            assert row["truths"] - hits == row["missed"]


def areas(report: Report) -> Iterator[tuple[Any, Any]]:
    """Yield the reported area of each curve, and the area computed from the points of the curve."""
    for row in chain.from_iterable(report.curves.values()):
        precisions = np.array(row["precision"])
        envelope = np.maximum.accumulate(precisions[::-1])[::-1]
        yield row["area"], float(np.sum(np.diff(row["recall"], prepend=0.0) * envelope)) if row["truths"] else None


@fuzzed
@given(seed=st.integers(0, 2**48), track=st.sampled_from([DETECTION, RELATIONSHIPS]))
def test_curves_integrate_to_the_average_precisions(seed: int, track: str, tmp_path: Path) -> None:
    reports = explained(track, seed, tmp_path, {})
    if reports is None:
        return
    _, report = reports
    for area, under_the_points in areas(report):
        assert under_the_points == (area if area is None else pytest.approx(area, abs=1e-12))
    for name, split in report.splits.items():
        curves = {(row["label"], row["curve"]): row["area"] for row in report.curves[name]}
        for row in split.classes:
            for column in set(row) & {"ap", "ap_relationships", "ap_phrases"}:
                assert curves[row["label"], column] == row[column]


@fuzzed
@given(seed=st.integers(0, 2**48), track=st.sampled_from([DETECTION, RELATIONSHIPS]))
def test_both_implementations_give_the_same_curves(seed: int, track: str, tmp_path: Path) -> None:
    files = drawn(track, seed, tmp_path)
    try:
        streamed = score(ScoringRequest(track, *files, report=ReportOptions(curves=True)))
    except InvalidSubmission:
        return
    with cases.reference_implementation():
        assert score(ScoringRequest(track, *files, report=ReportOptions(curves=True))).curves == streamed.curves
