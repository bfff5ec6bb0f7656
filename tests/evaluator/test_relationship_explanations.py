"""Tests explanations of relationship scores on an example that is small enough to be computed by hand."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.report import Report
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import score

HEADER = "ImageID,LabelName1,LabelName2,RelationshipLabel"
BOXES = ",".join(f"{name}{n}" for n in (1, 2) for name in ("XMin", "XMax", "YMin", "YMax"))
LEFT, RIGHT, WHOLE, CORNER = "0,0.5,0,1", "0.5,1,0,1", "0,1,0,1", "0,0.1,0,0.1"
# A triplet is (subject, relation, object). The only triplet with the relation "holds" is found, so its AP is 1. None of
# the three triplets with "on" is found. Other relations are not in the ground truth, so they are not counted.
TRIPLETS = [
    f"i,man,guitar,holds,{LEFT},{RIGHT}",
    f"j,man,horse,on,{WHOLE},{WHOLE}",
    f"k,cat,mat,on,{LEFT},{RIGHT}",
    f"l,dog,sofa,on,{LEFT},{RIGHT}",
]
LABELS = ["i,woman,0", "i,violin,0"]
PREDICTIONS = [
    f"i,man,guitar,holds,0.9,{LEFT},{RIGHT}",
    f"i,man,guitar,holds,0.8,{LEFT},{RIGHT}",
    f"j,man,horse,rides,0.7,{WHOLE},{WHOLE}",
    f"i,woman,guitar,holds,0.6,{LEFT},{RIGHT}",
    f"i,man,violin,holds,0.5,{LEFT},{RIGHT}",
    f"k,cat,mat,on,0.4,{LEFT},0.5,0.7,0,1",
    f"i,woman,guitar,plays,0.3,{LEFT},{RIGHT}",
    f"j,man,horse,on,0.2,{CORNER},{CORNER}",
    f"l,man,sofa,on,0.99,{LEFT},{RIGHT}",
]
TOLD = [
    ("true_positive", "", 2),
    ("false_positive", "duplicate", 2),
    ("false_positive", "relation", 3),
    ("false_positive", "subject", 2),
    ("false_positive", "object", 2),
    ("false_positive", "localization", 4),
    ("false_positive", "several", 2),
    ("false_positive", "background", 3),
    ("ignored", "unverified_class", ""),
    ("missed", "relation", 3),
    ("missed", "localization", 4),
    ("missed", "missed", 5),
]
GAINS = {
    "duplicate": 0.0,
    # With correct boxes, the more confident prediction of "on" would hit one of three triplets.
    "localization": (1 / 3) / 2,
    "relation": (1 / 3) / 2,  # With the correct relation, the prediction with "rides" would hit a triplet with "on".
    # With the correct subject, a prediction would duplicate a more confident hit, so the score would not increase.
    "subject": 0.0,
    "object": 0.0,
    "several": 0.0,
    "background": 0.0,
    "missed": 0.0,  # The AP of "on" remains 0, because no prediction hits a triplet with this relation.
}


@pytest.fixture
def report(tmp_path: Path) -> Report:
    truth, submission = tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir()
    (truth / "relationships.csv").write_text("\n".join([f"{HEADER},{BOXES}", *TRIPLETS]) + "\n")
    (truth / "image_labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *LABELS]) + "\n")
    submission.write_text("\n".join([f"{HEADER},Score,{BOXES}", *PREDICTIONS]) + "\n")
    return score(ScoringRequest("openimages-relationships", truth, submission, report=ReportOptions(matches=True)))


def test_every_match_has_the_line_of_its_triplet(report: Report) -> None:
    rows = [dict(zip(report.matches.columns, row, strict=True)) for row in report.matches.rows()]
    assert sorted((row["Outcome"], row["Reason"], row["TruthLine"]) for row in rows[:9]) == sorted(TOLD[:9])
    assert [(row["Outcome"], row["Reason"], row["TruthLine"]) for row in rows] == TOLD
    assert rows[5]["Overlap"] == pytest.approx(0.4)


def test_a_prediction_may_match_as_a_phrase_but_not_as_a_relationship(report: Report) -> None:
    rows = [dict(zip(report.matches.columns, row, strict=True)) for row in report.matches.rows()]
    assert (rows[5]["Outcome"], rows[5]["PhraseOutcome"]) == ("false_positive", "true_positive")


def test_the_gain_of_a_kind_is_the_mean_gained_by_fixing_it(report: Report) -> None:
    assert report.splits["all"].metrics["mAP_relationships"] == pytest.approx(1 / 2)
    gains = {row["kind"]: row["delta_mAP_relationships"] for row in report.splits["all"].tables["errors"]}
    assert gains == pytest.approx(GAINS, abs=1e-15)


def test_a_relation_row_counts_its_errors(report: Report) -> None:
    rows: dict[str, dict[str, Any]] = {row["label"]: row for row in report.splits["all"].classes}
    holds, on = rows["holds"], rows["on"]
    assert [holds[f"fp_{kind}"] for kind in ("duplicate", "subject", "object", "localization")] == [1, 1, 1, 0]
    assert [on[f"fp_{kind}"] for kind in ("localization", "background", "relation")] == [1, 1, 0]
    assert (on["missed"], on["ignored"], holds["missed"], holds["ignored"]) == (3, 1, 0, 0)
    assert [holds["precision"], holds["recall"], holds["support"]] == pytest.approx([1 / 4, 1, 1])


def test_the_micro_average_counts_all_false_positives(report: Report) -> None:
    """The false positives include those of "rides" and "plays", which have no row in the table of relations."""
    tables = report.splits["all"].tables
    micro = next(row for row in tables["averages"] if row["average"] == "micro")
    (false, _) = (row["false_positives"] for row in tables["error_sums"])
    assert (false, micro["support"]) == (7, 4)
    assert [micro[name] for name in ("precision", "recall", "f1")] == pytest.approx([1 / 8, 1 / 4, 2 / 12])
