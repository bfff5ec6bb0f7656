"""Tests the part of a score explanation that is stored for the report page, and its size limits."""

import json
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.explanation import POINTS, ROWS, explanation
from evaluator.report import Report, SplitReport
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import score
from evaluator.synthesis import synthesize


@pytest.fixture(scope="module", params=list(TRACKS))
def explained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Return the report of a submission with an explanation, computed with the same options as in the worker."""
    out = tmp_path_factory.mktemp("synthesized") / "challenge"
    synthesize(request.param, out, images=60, seed=5, qualities=(0.6,))
    file = min((out / "submissions").iterdir(), key=lambda path: len(path.name))
    explain = bool(TRACKS[request.param].explained_tables)
    return score(
        ScoringRequest(request.param, out / "truth", file, report=ReportOptions(curves=True, explanation=explain))
    )


def test_a_track_declares_what_it_explains(explained: Report) -> None:
    track, split = TRACKS[explained.track], explained.splits["all"]
    assert bool(track.explained_tables) is bool(track.modules.explanation)
    declared = {table.name: {column.name for column in table.columns} for table in track.explained_tables}
    assert set(split.tables) <= {*declared, *(table.name for table in track.tables)}
    for name in set(split.tables) & set(declared):
        assert all(declared[name] <= set(row) for row in split.tables[name]), name
    columns = {column.name for column in track.explained_columns}
    assert all(columns <= set(row) for row in split.classes)
    assert {row["curve"] for row in explained.curves["all"] if row["label"] is not None} == set(track.curves)


def test_every_kind_of_error_and_average_has_a_meaning(explained: Report) -> None:
    tables = explained.splits["all"].tables
    for declared in (table for table in TRACKS[explained.track].explained_tables if table.meanings):
        assert [row[declared.columns[0].name] for row in tables[declared.name]] == list(declared.meanings)


def test_curves_have_few_points_and_their_exact_areas(explained: Report) -> None:
    kept = explanation(explained, "all")["curves"]
    own = [row for row in kept if row["name"] != "mean of all"]
    assert [(row["label"], row["area"]) for row in own] == [(r["label"], r["area"]) for r in explained.curves["all"]]
    assert all(len(row["recall"]) == len(row["precision"]) <= POINTS + 2 for row in kept)


def test_the_area_under_a_mean_is_the_mean_of_the_areas(explained: Report) -> None:
    for mean in (row for row in explanation(explained, "all")["curves"] if row["name"] == "mean of all"):
        areas = [r["area"] for r in explained.curves["all"] if r["curve"] == mean["curve"] and r["label"]]
        defined = [float(area) for area in areas if isinstance(area, float)]
        assert mean["area"] == pytest.approx(sum(defined) / len(defined))
        # Approximate the area: multiply each step width by the precision at the right end of the step. For a
        # non-increasing curve, the result is at most the exact area, and the difference is less than the step width.
        drawn = sum(mean["precision"][1:]) / POINTS
        assert abs(mean["area"] - drawn) < 1 / POINTS
        assert drawn <= mean["area"] or not TRACKS[explained.track].interpolated


@pytest.mark.parametrize("found", range(1, POINTS + 1))
def test_a_mean_curve_reaches_the_recall_at_which_its_curves_end(found: int) -> None:
    """The submission finds a fraction of the objects of a class, without a false positive."""
    recalls = [(number + 1) / POINTS for number in range(found)]
    curve = TRACKS["openimages-detection"].curves[0]
    row: Any = {"label": "cat", "name": "cat", "curve": curve, "area": found / POINTS, "truths": float(POINTS)}
    row |= {"confidence": [1 - recall / 2 for recall in recalls], "recall": recalls, "precision": [1.0] * found}
    report = Report("openimages-detection", "s", {}, {"all": SplitReport("mAP", {"mAP": 0.5})}, curves={"all": [row]})
    mean, _ = explanation(report, "all")["curves"]
    assert mean["precision"] == [1.0] * (found + 1) + [0.0] * (POINTS - found)


def test_the_stored_explanation_is_plain_json(explained: Report) -> None:
    for split in explained.splits:
        kept = explanation(explained, split)
        assert json.loads(json.dumps(kept, allow_nan=False)) == kept
        assert set(kept) == {"classes", "tables", "left_out", "curves"}


def test_long_tables_are_truncated_and_omitted_rows_are_counted() -> None:
    rows: Any = [{"truth": "a", "prediction": str(number), "count": 1} for number in range(ROWS + 7)]
    split = SplitReport("mAP", {"mAP": 0.5}, tables={"class_errors": rows, "errors": rows[:1]})
    kept = explanation(Report("openimages-detection", "s", {}, {"all": split}), "all")
    assert (kept["tables"]["class_errors"], kept["left_out"]) == (rows[:ROWS], {"class_errors": 7})
    assert (kept["tables"]["errors"], kept["curves"]) == (rows[:1], [])
