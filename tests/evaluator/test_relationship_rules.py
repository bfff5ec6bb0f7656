"""Tests each rule of the relationships metric on an example that is small enough to be computed by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.problems import InvalidParameters
from evaluator.report import SplitReport
from evaluator.request import Bootstrap, ReportOptions, ScoringRequest
from evaluator.scoring import score
from evaluator.synthesis import synthesize

HEADER = "ImageID,LabelName1,LabelName2,RelationshipLabel"
BOXES = ",".join(f"{name}{n}" for n in (1, 2) for name in ("XMin", "XMax", "YMin", "YMax"))
LEFT, RIGHT, WHOLE = "0,0.5,0,1", "0.5,1,0,1", "0,1,0,1"


def scored(
    tmp_path: Path, *, triplets: list[str], predictions: list[str], labels: list[str] | None = None, **parameters: Any
) -> SplitReport:
    """Score a submission with the given rows.

    Predictions have the format `image,label1,label2,relation,score,box1,box2`. Ground truth triplets have the same
    format, but without the score.
    """
    truth, submission = tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir()
    (truth / "relationships.csv").write_text("\n".join([f"{HEADER},{BOXES}", *triplets]) + "\n")
    if labels is not None:
        (truth / "image_labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *labels]) + "\n")
    submission.write_text("\n".join([f"{HEADER},Score,{BOXES}", *predictions]) + "\n")
    return score(ScoringRequest("openimages-relationships", truth, submission, parameters=parameters)).splits["all"]


PLAYS = f"i,man,guitar,plays,{LEFT},{RIGHT}"


@pytest.mark.parametrize(
    ("prediction", "relationship", "phrase"),
    [
        (f"i,man,guitar,plays,0.9,{LEFT},{RIGHT}", 1.0, 1.0),
        # The boxes of the subject and the object are swapped. The phrase box, which encloses both, does not change.
        (f"i,man,guitar,plays,0.9,{RIGHT},{LEFT}", 0.0, 1.0),
        (f"i,man,guitar,plays,0.9,{LEFT},0.5,1,0,0.5", 1.0, 1.0),  # An IoU of exactly 1/2 is a match.
        (f"i,man,guitar,plays,0.9,{LEFT},0.5,1,0,0.49", 0.0, 1.0),
        (f"i,guitar,man,plays,0.9,{LEFT},{RIGHT}", 0.0, 0.0),  # The labels of the subject and the object are swapped.
        (f"i,man,guitar,holds,0.9,{LEFT},{RIGHT}", 0.0, 0.0),
        # This prediction is for image j, but the only annotated triplet is in image i.
        (f"j,man,guitar,plays,0.9,{LEFT},{RIGHT}", 0.0, 0.0),
        # A box of zero area is never a hit, but the phrase box that encloses both boxes can be a hit.
        ("i,man,guitar,plays,0.9,0.2,0.2,0,1,0.5,1,0,1", 0.0, 1.0),
    ],
)
def test_a_prediction_is_a_hit_if_both_of_its_boxes_overlap_enough(
    tmp_path: Path, prediction: str, relationship: float, phrase: float
) -> None:
    metrics = scored(tmp_path, triplets=[PLAYS], predictions=[prediction]).metrics
    assert (metrics["mAP_relationships"], metrics["mAP_phrases"]) == (relationship, phrase)


def test_overlap_is_measured_in_single_precision(tmp_path: Path) -> None:
    """The interval 0.1–0.2 is exactly half of 0.1–0.3, but their overlap in float32 is 0.49999996."""
    truth = "i,man,guitar,on,0.1,0.3,0,1,0,1,0,1"
    metrics = scored(tmp_path, triplets=[truth], predictions=["i,man,guitar,on,0.9,0.1,0.2,0,1,0,1,0,1"]).metrics
    assert metrics["mAP_relationships"] == 0.0


@pytest.mark.parametrize(
    ("labels", "first", "second", "kept"),
    [
        # If a verified label states that an image has no chair, chairs count as absent.
        (["i,chair,0"], "man", "chair", True),
        # If a verified label states that an image has a chair, but no triplet of the image contains a chair, chairs
        # count as absent, too.
        (["i,chair,1"], "man", "chair", True),
        # A pair of a woman and a chair is scored because chairs count as absent, although women have no verified label.
        (["i,chair,1"], "woman", "chair", True),
        # A pair of a man and a woman is not scored if women have no verified label and neither class counts as absent.
        ([], "man", "woman", False),
        ([], "woman", "guitar", False),
        # A pair of two men is scored, because men have a verified label.
        ([], "man", "man", True),
    ],
)
def test_a_pair_is_scored_if_both_labels_are_verified_or_one_is_absent(
    tmp_path: Path, labels: list[str], first: str, second: str, kept: bool
) -> None:
    split = scored(
        tmp_path,
        triplets=[PLAYS, f"j,woman,chair,on,{LEFT},{RIGHT}"],
        labels=labels,
        predictions=[f"i,{first},{second},plays,0.9,{WHOLE},{WHOLE}", f"i,man,guitar,plays,0.5,{LEFT},{RIGHT}"],
    )
    row = next(row for row in split.classes if row["label"] == "plays")
    assert row["ap_relationships"] == (0.5 if kept else 1.0)


def test_recall_uses_the_most_confident_predictions_of_each_image(tmp_path: Path) -> None:
    triplets = [f"i,man,guitar,plays,{n / 100},{n / 100 + 0.01},0,1,{WHOLE}" for n in range(60)]
    predictions = [row.replace("plays,", f"plays,{1 - n / 100},") for n, row in enumerate(triplets)]
    metrics = scored(tmp_path, triplets=triplets, predictions=predictions).metrics
    assert (metrics["recall@50"], metrics["recall@100"]) == (50 / 60, 1.0)


def test_recall_at_50_counts_false_positives_first_among_equal_confidences(tmp_path: Path) -> None:
    noise = [f"i,man,guitar,plays,0.9,0,0.01,0,{n / 100 + 0.01},{WHOLE}" for n in range(50)]
    metrics = scored(tmp_path, triplets=[PLAYS], predictions=[f"i,man,guitar,plays,0.9,{LEFT},{RIGHT}", *noise]).metrics
    assert (metrics["recall@50"], metrics["recall@100"]) == (0.0, 1.0)


def test_equal_triplets_are_counted_twice_but_only_the_first_can_be_hit(tmp_path: Path) -> None:
    split = scored(
        tmp_path, triplets=[PLAYS, PLAYS], predictions=[PLAYS.replace("plays,", f"plays,0.{n},") for n in (9, 8)]
    )
    assert split.classes[0]["truths"] == 2
    assert split.metrics["mAP_relationships"] == 0.5


def test_a_relation_without_triplets_has_no_ap_but_lowers_the_weighted_ap(tmp_path: Path) -> None:
    metrics = scored(
        tmp_path,
        triplets=[PLAYS],
        predictions=[f"i,man,guitar,holds,0.9,{LEFT},{RIGHT}", f"i,man,guitar,plays,0.8,{LEFT},{RIGHT}"],
    ).metrics
    assert (metrics["mAP_relationships"], metrics["weighted_ap_relationships"]) == (1.0, 0.5)


def test_the_score_is_the_weighted_sum(tmp_path: Path) -> None:
    swapped = f"i,man,guitar,plays,0.9,{RIGHT},{LEFT}"
    assert scored(tmp_path, triplets=[PLAYS], predictions=[swapped]).metrics["score"] == 0.4
    (tmp_path / "again").mkdir()
    split = scored(tmp_path / "again", triplets=[PLAYS], predictions=[swapped], weights="0.2/0.1/0.7")
    assert split.metrics["score"] == 0.7


def test_one_weight_must_be_above_zero(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameters, match="at least one of the numbers must be above 0"):
        scored(tmp_path, triplets=[PLAYS], predictions=[], weights="0/0/0")


@pytest.mark.parametrize("weights", ["1/1/1", "0.5/0.25/0.25", "0.1/0.1/0.1"])
def test_the_interval_of_the_score_ends_at_the_sum_of_the_weights(weights: str, tmp_path: Path) -> None:
    """Weights that are twice as large give an interval with ends that are twice as large."""
    synthesize("openimages-relationships", tmp_path, images=40, qualities=[0.8])
    submission = min((tmp_path / "submissions").iterdir())
    parts = [float(weight) for weight in weights.split("/")]
    found = []
    for given in (parts, [weight / sum(parts) for weight in parts]):
        options = ReportOptions(bootstrap=Bootstrap(200))
        request = ScoringRequest(
            "openimages-relationships", tmp_path / "truth", submission, {"weights": given}, report=options
        )
        found.append(np.array(score(request).splits["all"].intervals["score"]))
    assert found[0] == pytest.approx(sum(parts) * found[1], rel=1e-9)


def test_without_predictions_the_score_is_zero_and_without_truth_undefined(tmp_path: Path) -> None:
    assert set(scored(tmp_path, triplets=[PLAYS], predictions=[]).metrics.values()) == {0.0}
    (tmp_path / "again").mkdir()
    assert set(scored(tmp_path / "again", triplets=[], predictions=[]).metrics.values()) == {None}
