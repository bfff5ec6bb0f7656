"""What holds for every track; a new one is tested here before its author writes a test."""

import csv
import gzip
import io
import json
import random
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.catalog import TRACKS
from evaluator.files.conversion import convert
from evaluator.scoring import check, prepare, sample, score
from evaluator.synthesis import synthesize
from evaluator.tracks import CONTESTS

IMAGES = 40


@dataclass(frozen=True)
class Made:
    """A synthesized challenge: its truth folder, a submission in both shapes, and the score of it."""

    track: str
    truth: Path
    kaggle: Path
    long: Path
    result: dict[str, Any]


@pytest.fixture(scope="module", params=list(TRACKS))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    out = tmp_path_factory.mktemp("synthesized") / "challenge"
    synthesize(request.param, out, images=IMAGES, seed=5, qualities=(0.6,))
    kaggle, long = out / "submissions/quality-0.60.csv", out / "submissions/quality-0.60-long.csv"
    return Made(request.param, out / "truth", kaggle, long, score(request.param, out / "truth", kaggle).as_dict())


def test_every_declared_track_is_computed() -> None:
    assert list(CONTESTS) == list(TRACKS)


def rewritten(made: Made, source: Path, chance: random.Random) -> bytes:
    """Write the same predictions in another order, dress and letter case."""
    header, *rows = csv.reader(io.StringIO(source.read_text()))
    chance.shuffle(rows)
    if "PredictionString" in header:
        width = len(TRACKS[made.track].tokens)
        rows = [[image, shuffled(string, width, chance)] for image, string in rows]
    columns = chance.sample(range(len(header)), len(header))
    out = io.StringIO()
    quoting = chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    writer = csv.writer(out, lineterminator=chance.choice(["\n", "\r\n", "\r"]), quoting=quoting)
    writer.writerow([chance.choice([header[c], header[c].upper(), header[c].lower()]) for c in columns])
    writer.writerows([[row[c] for c in columns] for row in rows])
    content = (chance.choice(["", "\ufeff"]) + out.getvalue()).encode()
    return gzip.compress(content) if chance.random() < 0.5 else content


def shuffled(string: str, width: int, chance: random.Random) -> str:
    tokens = string.split()
    predictions = [tokens[start : start + width] for start in range(0, len(tokens), width)]
    chance.shuffle(predictions)
    return chance.choice([" ", "  "]).join(token for prediction in predictions for token in prediction)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), long=st.booleans())
def test_order_shape_gzip_and_dress_of_a_file_change_not_one_bit(
    made: Made, seed: int, long: bool, tmp_path: Path
) -> None:
    path = tmp_path / "submission"
    path.write_bytes(rewritten(made, made.long if long else made.kaggle, random.Random(seed)))
    assert score(made.track, made.truth, path).as_dict() == made.result


def test_a_second_run_gives_the_same_bytes(made: Made) -> None:
    again = score(made.track, made.truth, made.kaggle).as_dict()
    assert json.dumps(again) == json.dumps(made.result)


def test_a_prepared_truth_gives_the_same_bytes(made: Made, tmp_path: Path) -> None:
    prepare(made.track, made.truth, tmp_path / "t.podium")
    again = score(made.track, tmp_path / "t.podium", made.kaggle).as_dict()
    assert json.dumps(again) == json.dumps(made.result)


def test_conversion_there_and_back_keeps_every_prediction(made: Made, tmp_path: Path) -> None:
    long, back = tmp_path / "long.csv", tmp_path / "kaggle.csv"
    with long.open("w") as file:
        convert(made.track, "long", made.kaggle, file)
    with back.open("w") as file:
        convert(made.track, "kaggle", long, file)
    filled = [row for row in made.kaggle.read_text().splitlines() if not row.endswith(",")]
    assert back.read_text().splitlines() == filled


@pytest.mark.parametrize("shape", ["kaggle_header", "long_header"])
def test_an_empty_file_scores_zero(made: Made, tmp_path: Path, shape: str) -> None:
    path = tmp_path / "empty.csv"
    path.write_text(",".join(getattr(TRACKS[made.track], shape)) + "\n")
    assert score(made.track, made.truth, path).splits["all"].metrics[TRACKS[made.track].headline] == 0.0


def test_the_sample_submission_names_every_image_and_scores_zero(made: Made, tmp_path: Path) -> None:
    sample(made.track, made.truth, tmp_path / "sample.csv")
    assert len((tmp_path / "sample.csv").read_text().splitlines()) == IMAGES + 1
    report = score(made.track, made.truth, tmp_path / "sample.csv")
    assert report.splits["all"].metrics[TRACKS[made.track].headline] == 0.0


TRUTH_FILES = {"openimages-detection": "boxes.csv", "openimages-relationships": "relationships.csv"}


def test_the_truth_as_submission_scores_the_ceiling(made: Made, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((made.truth / TRUTH_FILES[made.track]).read_text())))
    with (tmp_path / "truth.csv").open("w") as file:
        writer = csv.DictWriter(file, TRACKS[made.track].long_header, extrasaction="ignore")
        writer.writeheader()
        writer.writerows([row | {"Score": 1} for row in rows])
    parameters = {"expand_predictions": True} if made.track == "openimages-detection" else {}
    report = score(made.track, made.truth, tmp_path / "truth.csv", parameters=parameters)
    assert report.splits["all"].metrics[TRACKS[made.track].headline] == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_prediction_that_hits_nothing_never_raises_a_score(made: Made, data: st.DataObject, tmp_path: Path) -> None:
    header, *rows = csv.reader(io.StringIO(made.long.read_text()))
    extra = data.draw(st.sampled_from(rows)).copy()
    extra = ["7" if "Min" in name else "8" if "Max" in name else cell for name, cell in zip(header, extra, strict=True)]
    extra[header.index("Score")] = str(data.draw(st.floats(0, 1)))
    path = tmp_path / "more.csv"
    with path.open("w") as file:
        csv.writer(file).writerows([header, extra, *rows])
    worse = score(made.track, made.truth, path).as_dict()["splits"]["all"]
    better = made.result["splits"]["all"]
    for name, value in worse["metrics"].items():
        assert value <= better["metrics"][name] + 1e-15, name


def test_check_says_what_score_says(made: Made, tmp_path: Path) -> None:
    assert [n.code for n in check(made.track, made.long, truth=made.truth).notices] == [
        notice["code"] for notice in made.result["notices"]
    ]


def test_the_splits_are_scored_as_if_alone(made: Made, tmp_path: Path) -> None:
    """Public of a split equals a scoring with every other image ignored."""
    halves = score(made.track, made.truth, made.kaggle, split=(0.5, 3)).splits
    images = [row["ImageID"] for row in csv.DictReader(io.StringIO((made.truth / "images.csv").read_text()))]
    usage = tmp_path / "usage.csv"
    public = public_images(images, share=0.5, seed=3)
    usage.write_text("ImageID,Usage\n" + "".join(f"{i},{'Public' if i in public else 'Ignored'}\n" for i in images))
    alone = score(made.track, made.truth, made.kaggle, usage=usage).splits
    assert 0 < len(public) < len(images)
    assert halves["public"].as_dict() == alone["all"].as_dict()


def public_images(images: list[str], *, share: float, seed: int) -> set[str]:
    return {i for i in images if int(sha256(f"{seed}:{i}".encode()).hexdigest()[:16], 16) / 2**64 < share}
