"""A bootstrap replicate equals the score on a test set that contains each image as often as it was drawn."""

import csv
import io
import random
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

from evaluator.draws import LANES, Draws, Weights
from evaluator.files.conversion import convert
from evaluator.metrics.bootstrap import paired_interval, recentred_interval
from evaluator.problems import InvalidParameters, InvalidSubmission
from evaluator.report import Report
from evaluator.request import Bootstrap, Resources, ScoringRequest, TruthOptions
from evaluator.scoring import score
from evaluator.tracks import scorer_of
from evaluator.tracks.compiling import open_truth
from evaluator.truth import IGNORED, Truth
from tests.evaluator.conftest import Tiny
from tests.evaluator.kernels import cases
from tests.evaluator.options import with_intervals

DETECTION = "openimages-detection"
EMPTY = "ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n"


def copied(path: Path, counts: dict[str, int], to: Path) -> None:
    """Write a copy of a CSV file in which each row is repeated ``counts[image]`` times.

    Each copy of an image has a new image id.
    """
    header, *rows = csv.reader(io.StringIO(path.read_text()))
    place = header.index("ImageID") if "ImageID" in header else None
    with to.open("w") as file:
        out = csv.writer(file)
        out.writerow(header)
        for row in rows:
            for copy in range(1 if place is None else counts.get(row[place], 0)):
                out.writerow([f"{cell}#{copy}" if column == place else cell for column, cell in enumerate(row)])


def scored(tiny: Tiny, replicates: int, *, file: Path | None = None, seed: int = 0, **fields: Any) -> Report:
    """Score a submission against the ground truth of the fixture ``tiny``, and return a report with intervals."""
    report = with_intervals(replicates, seed, fields.pop("draws", None))
    return score(ScoringRequest(tiny.track, tiny.truth, file or tiny.long, report=report, **fields))


def copied_score(folder: Path, truth: Path, long: Path, counts: dict[str, int], **options: Any) -> dict[str, Any]:
    """Return the scores on a test set that contains each image as often as a replicate drew it."""
    new = Path(mkdtemp(dir=folder))
    (new / "truth").mkdir()
    for path in truth.iterdir():
        if path.suffix == ".csv" and path.name not in ("usage.csv", "classes.csv", "relations.csv"):
            copied(path, counts, new / "truth" / path.name)
        elif path.name != "usage.csv":
            (new / "truth" / path.name).write_bytes(path.read_bytes())
    copied(long, counts, new / "long.csv")
    return dict(
        score(ScoringRequest(options.pop("track"), new / "truth", new / "long.csv", **options)).splits["all"].metrics
    )


def assert_replicates_are_copies(folder: Path, truth: Truth, report: Report, files: tuple[Path, Path]) -> None:
    for number, split in enumerate(("all", "public", "private")):
        if split not in report.splits:
            continue
        inside = truth.splits[split]
        drawn_as = 0 if np.array_equal(inside, truth.splits["all"]) else number
        weights = Draws(truth.sha256, drawn_as, 3, int(inside.sum()), 2).block(0)
        names = np.array(list(truth.texts["images"]))[inside].tolist()
        for replicate in range(2):
            counts = dict(zip(names, weights[:, replicate].tolist(), strict=True))
            expected = copied_score(folder, *files, counts, track=report.track, parameters=report.parameters)
            for metric, value in expected.items():
                found = report.splits[split].replicates[metric][replicate]
                assert found == pytest.approx(np.nan if value is None else value, abs=1e-12, nan_ok=True), metric


@pytest.mark.parametrize("track", cases.FILES)
@pytest.mark.parametrize("seed", range(12))
def test_a_replicate_equals_the_score_of_copied_images(track: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    parameters = {"group_of_weight": chance.choice([0.0, 0.3, 1.0])} if track == DETECTION else {}
    while True:  # Some random submissions have defects, so generate files until one can be scored.
        truth = cases.TRUTHS[track](chance, Path(mkdtemp(dir=tmp_path)) / "truth")
        submission, long = tmp_path / "submission.csv", tmp_path / "long.csv"
        submission.write_bytes(cases.FILES[track](chance))
        try:
            report = score(
                ScoringRequest(track, truth, submission, parameters=parameters, report=with_intervals(2, seed=3))
            )
            break
        except InvalidSubmission:
            continue
    with long.open("w") as file:
        convert(track, "long", submission, file)
    opened = open_truth(scorer_of(track), truth, dict(report.parameters))
    assert_replicates_are_copies(tmp_path, opened, report, (truth, long))


def test_all_submissions_have_the_same_draws(tiny: Tiny, tmp_path: Path) -> None:
    """With equal draws, a submission that is no worse than another one on any image is no worse in any replicate."""
    worse = tmp_path / "worse.csv"
    worse.write_text("\n".join(line for line in tiny.long.read_text().splitlines() if "garden" not in line))
    kept = tmp_path / "draws"
    one, other = (
        scored(tiny, 500, file=file, draws=kept).splits["all"].replicates["mAP"] for file in (tiny.long, worse)
    )
    assert len(list(kept.iterdir())) == 1
    assert (one >= other)[~np.isnan(one)].all()
    assert (one > other).any()


def test_a_different_seed_draws_different_replicates(tiny: Tiny) -> None:
    one, other = (scored(tiny, 100, seed=seed).splits["all"].replicates["mAP"] for seed in (0, 1))
    assert not np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("replicates", [1, LANES - 1, LANES, LANES + 1])
def test_a_larger_number_of_replicates_begins_with_the_same_ones(tiny: Tiny, replicates: int) -> None:
    most, some = (scored(tiny, count).splits["all"].replicates["mAP"] for count in (3 * LANES, replicates))
    assert np.array_equal(some, most[:replicates], equal_nan=True)


def test_without_a_bootstrap_there_are_no_intervals(tiny: Tiny) -> None:
    split = score(ScoringRequest(tiny.track, tiny.truth, tiny.long)).splits["all"]
    assert (split.intervals, split.replicates) == ({}, {})


def test_intervals_change_no_other_part_of_the_report(tiny: Tiny) -> None:
    plain = score(ScoringRequest(tiny.track, tiny.truth, tiny.long)).as_dict()
    drawn = scored(tiny, 50).as_dict()
    for name, split in drawn["splits"].items():
        low, high = split.pop("intervals")["mAP"]
        assert low < split["metrics"]["mAP"] < high
        plain["splits"][name].pop("intervals")
    assert drawn == plain


def test_a_split_that_contains_all_images_has_the_interval_of_all(tiny: Tiny) -> None:
    splits = scored(tiny, 50).splits
    assert splits["public"].intervals == splits["all"].intervals


def test_splits_are_drawn_independently(tmp_path: Path) -> None:
    """The public and private splits have the same objects and hits, so equal draws would produce equal replicates."""
    truth = tmp_path / "truth"
    truth.mkdir()
    names = [f"{half}{number:02}" for half in "ab" for number in range(20)]
    boxes = "".join(f"{name},cat,0,0.5,0,0.5,0\n" for name in names)
    (truth / "boxes.csv").write_text("ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\n" + boxes)
    (truth / "image_labels.csv").write_text("ImageID,LabelName,Confidence\n")
    usage = "".join(f"{name},{'Public' if name[0] == 'a' else 'Private'}\n" for name in names)
    (truth / "usage.csv").write_text("ImageID,Usage\n" + usage)
    found = "".join(f"{name},cat,0.5,0,0.5,0,0.5\n" for name in names if int(name[1:]) % 2)
    (tmp_path / "long.csv").write_text(EMPTY + found)
    splits = score(ScoringRequest(DETECTION, truth, tmp_path / "long.csv", report=with_intervals(500))).splits
    assert splits["public"].metrics == splits["private"].metrics
    together = np.corrcoef(splits["public"].replicates["mAP"], splits["private"].replicates["mAP"])[0, 1]
    assert abs(together) < 0.2


def test_progress_is_reported_until_the_end(tiny: Tiny) -> None:
    told: list[tuple[str, float]] = []
    scored(
        tiny,
        200,
        opening=TruthOptions(split=(0.5, 1)),
        resources=Resources(progress=lambda stage, fraction: told.append((stage, fraction))),
    )
    fractions = [fraction for stage, fraction in told if stage == "bootstrapping"]
    assert told[-1] == ("bootstrapping", 1.0)
    assert fractions == sorted(fractions)
    # Progress is 0 at first, and is then reported for each of four blocks of replicates in three splits.
    assert len(set(fractions)) == 3 * 4 + 1


def test_an_exception_in_the_progress_callback_ends_the_scoring_run(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The progress callback of a worker raises an exception if the worker has lost its lease on the job."""
    numbers: list[int] = []
    drawn = Draws.block

    def counted(draws: Draws, number: int) -> Weights:
        numbers.append(number)
        return drawn(draws, number)

    monkeypatch.setattr(Draws, "block", counted)

    def tell(stage: str, fraction: float) -> None:
        if stage == "bootstrapping" and fraction > 0:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        scored(tiny, 100_000, resources=Resources(progress=tell))
    assert len(numbers) < 100_000 / LANES / 2


@pytest.mark.parametrize("wanted", [{"replicates": 0}, {"replicates": 1, "seed": -1}])
def test_numbers_that_are_too_small_are_refused(wanted: dict[str, int]) -> None:
    with pytest.raises(InvalidParameters):
        Bootstrap(**wanted)


def test_an_empty_submission_has_an_interval_of_width_zero(tiny: Tiny) -> None:
    tiny.long.write_text(EMPTY)
    split = scored(tiny, 100).splits["all"]
    assert split.intervals == {"mAP": (0.0, 0.0)}


def test_with_a_single_image_all_replicates_are_equal(tiny: Tiny, tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    usage.write_text("ImageID,Usage\nstreet,Public\nkitchen,Ignored\ngarden,Ignored\n")
    split = scored(tiny, 100, opening=TruthOptions(usage=usage)).splits["all"]
    assert split.metrics["mAP"] == pytest.approx(0.5)
    assert split.intervals["mAP"] == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize("usage", ["Ignored", "Private"])
def test_a_split_without_images_has_no_interval(usage: str, tiny: Tiny, tmp_path: Path) -> None:
    listing = tmp_path / "usage.csv"
    listing.write_text("ImageID,Usage\n" + "".join(f"{name},{usage}\n" for name in ("street", "kitchen", "garden")))
    kept = tmp_path / "draws"
    for _ in range(2):
        splits = scored(tiny, 100, draws=kept, opening=TruthOptions(usage=listing)).splits
        assert splits["public"].metrics == {"mAP": None}
        assert splits["public"].intervals == {}
        assert np.isnan(splits["public"].replicates["mAP"]).tolist() == [True] * 100
        assert ("mAP" in splits["all"].intervals) == (usage == "Private")


def test_a_truth_without_objects_has_no_interval(tiny: Tiny) -> None:
    boxes = (tiny.truth / "boxes.csv").read_text().splitlines()[0]
    (tiny.truth / "boxes.csv").write_text(boxes + "\n")
    split = scored(tiny, 100).splits["all"]
    assert split.metrics == {"mAP": None}
    assert split.intervals == {}
    assert np.isnan(split.replicates["mAP"]).all()


def test_a_replicate_that_draws_no_object_is_left_out(tiny: Tiny) -> None:
    """Only one of three images has an object, so a replicate has no object with a probability of 8/27.

    The score of this replicate is undefined, and the interval ignores it.
    """
    rows = (tiny.truth / "boxes.csv").read_text().splitlines()
    (tiny.truth / "boxes.csv").write_text("\n".join([rows[0], rows[-1]]))
    split = scored(tiny, 1_000).splits["all"]
    undefined = np.isnan(split.replicates["mAP"])
    assert undefined.mean() == pytest.approx(8 / 27, abs=0.06)
    low, high = recentred_interval(split.replicates["mAP"][~undefined], split.metrics["mAP"] or 0.0) or (1, 0)
    assert split.intervals["mAP"] == (low, high)


def test_ignored_images_do_not_affect_replicates(tiny: Tiny, tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    usage.write_text("ImageID,Usage\nstreet,Public\nkitchen,Public\ngarden,Ignored\n")
    truth = open_truth(scorer_of(tiny.track), tiny.truth, None, TruthOptions(usage=usage))
    assert (truth.arrays["usage"] == IGNORED).sum() == 1
    one = scored(tiny, 50, opening=TruthOptions(usage=usage)).splits["all"].replicates["mAP"]
    tiny.long.write_text("\n".join(line for line in tiny.long.read_text().splitlines() if "garden" not in line))
    other = scored(tiny, 50, opening=TruthOptions(usage=usage)).splits["all"].replicates["mAP"]
    assert np.array_equal(one, other)


# The following tests call the functions that compute confidence intervals from bootstrap replicates.


@pytest.mark.parametrize("observed", [0.0, 0.3, 1.0])
def test_a_recentred_interval_contains_the_score_and_stays_in_range(observed: float) -> None:
    replicates = np.random.default_rng(1).normal(0.5, 0.2, 1_000)
    low, high = recentred_interval(replicates, observed) or (2.0, -1.0)
    assert 0 <= low <= observed <= high <= 1
    spread = np.percentile(replicates, [2.5, 97.5]) - replicates.mean()
    assert (low, high) == pytest.approx(tuple(np.clip(observed + spread, 0, 1)))


def test_a_paired_interval_is_not_recentred() -> None:
    differences = np.r_[np.linspace(0.1, 0.3, 101), np.nan]
    assert paired_interval(differences, 0.12) == pytest.approx((0.105, 0.295))


def test_only_undefined_replicates_are_left_out() -> None:
    replicates = np.array([0.4, np.nan, 0.6])
    assert recentred_interval(replicates, 0.5) == recentred_interval(np.array([0.4, 0.6]), 0.5)
    assert recentred_interval(np.array([np.nan]), 0.5) is None
    assert paired_interval(np.array([np.nan]), 0.5) is None
    assert paired_interval(np.empty(0), 0.5) is None
