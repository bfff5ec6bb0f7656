"""Tests properties that every track must have. These tests cover a new track automatically."""

import csv
import io
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.catalog import TRACKS, Form, ReportColumn
from evaluator.draws import LANES, Draws
from evaluator.files.conversion import convert
from evaluator.problems import InvalidSubmission
from evaluator.report import Report
from evaluator.request import Resources, ScoringRequest, TruthOptions
from evaluator.scoring import ceiling, check, prepare, score, template
from evaluator.synthesis import synthesize
from evaluator.tracks import scorer_of
from tests.evaluator.options import HALVES, with_intervals
from tests.evaluator.rewriting import rewritten

IMAGES = 40


@dataclass(frozen=True)
class Made:
    """A synthesized challenge: the ground truth, a submission in each file layout, and the report on the first file."""

    track: str
    truth: Path
    submissions: list[Path]
    result: dict[str, Any]

    @property
    def form(self) -> Form:
        return TRACKS[self.track].form

    def scored(self, submission: Path, **fields: Any) -> Report:
        return score(ScoringRequest(self.track, self.truth, submission, **fields))

    def headline(self, submission: Path) -> float | None:
        return self.scored(submission).splits["all"].metrics[TRACKS[self.track].headline]


@pytest.fixture(scope="module", params=list(TRACKS))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    out = tmp_path_factory.mktemp("synthesized") / "challenge"
    files = synthesize(request.param, out, images=IMAGES, seed=5, qualities=(0.6,))["files"]
    submissions = sorted((out / name for name in files if name.startswith("submissions/")), key=lambda p: len(p.name))
    return Made(
        request.param,
        out / "truth",
        submissions,
        score(ScoringRequest(request.param, out / "truth", submissions[0])).as_dict(),
    )


DAMAGE = [
    b"",
    b"null",
    b"1e999",
    b"NaN",
    b"[[",
    b"]}",
    b'"',
    b",",
    b"\n",
    b"\0",
    b"\xff",
    b"1" * 400,
    b"-1",
    b"\\ud800",
]
WITH_TWO_SHAPES = [name for name, track in TRACKS.items() if track.form.tokens]
WITH_BOXES = [name for name, track in TRACKS.items() if {"XMin", "XMin1"} & set(track.form.long_header)]


def test_every_declared_track_is_computed() -> None:
    for name, track in TRACKS.items():
        assert scorer_of(name).track is track


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_row_order_layout_compression_and_number_format_do_not_change_the_report(
    made: Made, data: st.DataObject, tmp_path: Path
) -> None:
    source = data.draw(st.sampled_from(made.submissions))
    path = tmp_path / "submission"
    path.write_bytes(rewritten(made.form, source.read_text(), random.Random(data.draw(st.integers(0, 2**32)))))
    assert made.scored(path).as_dict() == made.result


def test_a_second_run_gives_the_same_bytes(made: Made) -> None:
    again = made.scored(made.submissions[0]).as_dict()
    assert json.dumps(again) == json.dumps(made.result)


def test_threads_file_layout_and_stored_draws_do_not_change_replicates(made: Made, tmp_path: Path) -> None:
    files = made.submissions[0], made.submissions[-1]
    first = made.scored(files[0], opening=HALVES, report=with_intervals(100, seed=4)).splits
    assert list(first) == ["all", "public", "private"]
    for file, threads, draws in ((files[1], 1, None), (files[0], 2, tmp_path), (files[1], 3, tmp_path)):
        again = made.scored(
            file, opening=HALVES, report=with_intervals(100, seed=4, draws=draws), resources=Resources(threads=threads)
        ).splits
        for name, split in first.items():
            assert again[name].as_dict() == split.as_dict()
            assert {m: v.tolist() for m, v in again[name].replicates.items()} == {
                m: v.tolist() for m, v in split.replicates.items()
            }
    assert len(list(tmp_path.iterdir())) == 3


def test_every_metric_has_replicates_and_an_interval_around_it(made: Made) -> None:
    split = made.scored(made.submissions[-1], report=with_intervals(200)).splits["all"]
    assert set(split.replicates) == set(split.intervals) == {metric.name for metric in TRACKS[made.track].metrics}
    for name, observed in split.metrics.items():
        low, high = split.intervals[name]
        assert observed is not None
        assert 0 <= low < observed < high <= 1, name
        assert len(split.replicates[name]) == 200


def test_a_replicate_that_draws_every_image_once_is_the_score(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Draws, "block", lambda draws, number: np.ones((draws.images, LANES), np.uint8))
    for split in made.scored(made.submissions[0], opening=HALVES, report=with_intervals(1)).splits.values():
        assert {name: float(values[0]) for name, values in split.replicates.items()} == pytest.approx(
            split.metrics, abs=1e-12
        )


def test_a_replicate_that_draws_only_public_images_is_the_public_score(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = images_of(made)
    public = public_images(images, share=0.4, seed=1)
    drawn = np.repeat(np.array([[image in public] for image in sorted(images)], np.uint8), LANES, axis=1)
    # The bootstrap weights have one row for each image. A split uses as many of the first rows as it has images. Only
    # the result for the split "all" is tested, which uses all rows.
    monkeypatch.setattr(Draws, "block", lambda draws, number: drawn[: draws.images])
    found = made.scored(made.submissions[0], opening=HALVES, report=with_intervals(1)).splits
    assert {name: float(each[0]) for name, each in found["all"].replicates.items()} == pytest.approx(
        found["public"].metrics, abs=1e-12
    )


def test_a_prepared_truth_gives_the_same_bytes(made: Made, tmp_path: Path) -> None:
    prepare(made.track, made.truth, tmp_path / "t.podium")
    again = score(ScoringRequest(made.track, tmp_path / "t.podium", made.submissions[0])).as_dict()
    assert json.dumps(again) == json.dumps(made.result)


def test_a_report_contains_exactly_what_its_track_declares(made: Made) -> None:
    track = TRACKS[made.track]
    tables = {"classes": ("label", "name", *names(track.class_columns))}
    tables |= {table.name: names(table.columns) for table in track.tables}
    for split in made.result["splits"].values():
        assert list(split["metrics"]) == [metric.name for metric in track.metrics]
        assert set(split) == {"headline", "metrics", "intervals", *tables}
        for name, columns in tables.items():
            assert bool(split[name]) == bool(columns[2:])
            assert all(tuple(row) == columns for row in split[name])


@pytest.mark.parametrize("made", WITH_TWO_SHAPES, indirect=True)
def test_converting_a_file_and_back_keeps_every_prediction(made: Made, tmp_path: Path) -> None:
    kaggle, long, back = made.submissions[0], tmp_path / "long.csv", tmp_path / "kaggle.csv"
    with long.open("w") as file:
        convert(made.track, "long", kaggle, file)
    with back.open("w") as file:
        convert(made.track, "kaggle", long, file)
    filled = [row for row in kaggle.read_text().splitlines() if not row.endswith(",")]
    assert back.read_text().splitlines() == filled


def test_an_empty_file_has_the_result_that_the_track_declares(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    headers = {shape.header + "\n" for shape in made.form.shapes if shape.header} or {made.form.empty_file}
    for content in headers:
        path.write_text(content)
        match TRACKS[made.track].empty:
            case "zero":
                assert made.headline(path) == 0.0
            case "base rate":
                assert 0.0 < (made.headline(path) or 0.0) < 0.9
            case "rejected":
                with pytest.raises(InvalidSubmission):
                    made.headline(path)


def test_the_sample_submission_is_complete_and_predicts_nothing(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    template(made.track, made.truth, path)
    found = check(made.track, path, truth=made.truth)
    expected = "no_predictions" if TRACKS[made.track].empty == "base rate" else "nothing_to_score"
    assert (found.total, [notice.code for notice in found.notices]) == (0, [expected])
    assert all(image in path.read_text() for image in images_of(made))
    assert (made.headline(path) == 0.0) or TRACKS[made.track].empty == "base rate"


def test_the_truth_scores_the_ceiling_when_it_is_submitted(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "truth"
    ceiling(made.track, made.truth, path)
    assert check(made.track, path, truth=made.truth).total == 0
    assert made.headline(path) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("made", WITH_BOXES, indirect=True)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_prediction_that_hits_nothing_never_raises_a_score(made: Made, data: st.DataObject, tmp_path: Path) -> None:
    header, *rows = csv.reader(io.StringIO(made.submissions[-1].read_text()))
    extra = data.draw(st.sampled_from(rows)).copy()
    extra = ["7" if "Min" in name else "8" if "Max" in name else cell for name, cell in zip(header, extra, strict=True)]
    extra[header.index("Score")] = str(data.draw(st.floats(0, 1)))
    path = tmp_path / "more.csv"
    with path.open("w") as file:
        csv.writer(file).writerows([header, extra, *rows])
    worse = made.scored(path).as_dict()["splits"]["all"]
    better = made.result["splits"]["all"]
    for name, value in worse["metrics"].items():
        assert value <= better["metrics"][name] + 1e-15, name


def test_check_and_score_report_the_same_defects(made: Made, tmp_path: Path) -> None:
    assert [n.code for n in check(made.track, made.submissions[-1], truth=made.truth).notices] == [
        notice["code"] for notice in made.result["notices"]
    ]
    content = made.submissions[-1].read_bytes()
    (tmp_path / "broken").write_bytes(content[: len(content) // 2] + b"\0")
    findings = check(made.track, tmp_path / "broken", truth=made.truth)
    with pytest.raises(InvalidSubmission) as caught:
        made.scored(tmp_path / "broken")
    assert findings.total > 0
    assert caught.value.findings.as_dict() == findings.as_dict()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_scored_or_rejected(made: Made, data: st.DataObject, tmp_path: Path) -> None:
    content = bytearray(made.submissions[data.draw(st.integers(0, len(made.submissions) - 1))].read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 20))] = data.draw(st.sampled_from(DAMAGE) | st.binary(max_size=4))
    (tmp_path / "damaged").write_bytes(content)
    findings = check(made.track, tmp_path / "damaged", truth=made.truth)
    if findings.total:
        assert json.dumps(findings.as_dict())
    else:
        assert made.scored(tmp_path / "damaged").splits["all"].metrics


def test_each_split_is_scored_as_if_it_were_the_only_one(made: Made, tmp_path: Path) -> None:
    """The public score equals the overall score against a ground truth in which private images are ignored."""
    submission = made.submissions[0]
    halves = made.scored(submission, opening=TruthOptions(split=(0.5, 3))).splits
    images = images_of(made)
    usage = tmp_path / "usage.csv"
    public = public_images(images, share=0.5, seed=3)
    usage.write_text("ImageID,Usage\n" + "".join(f"{i},{'Public' if i in public else 'Ignored'}\n" for i in images))
    alone = made.scored(submission, opening=TruthOptions(usage=usage)).splits
    assert 0 < len(public) < len(images)
    assert halves["public"].as_dict() == alone["all"].as_dict()


def names(columns: Sequence[ReportColumn]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def images_of(made: Made) -> list[str]:
    return [row["ImageID"] for row in csv.DictReader(io.StringIO((made.truth / "images.csv").read_text()))]


def public_images(images: list[str], *, share: float, seed: int) -> set[str]:
    return {i for i in images if int(sha256(f"{seed}:{i}".encode()).hexdigest()[:16], 16) / 2**64 < share}
