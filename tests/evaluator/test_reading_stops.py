"""Reading stops after too many defects. These tests count rows and defects instead of measuring time."""

import gzip
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator.catalog import TRACKS, Limits
from evaluator.cli import main
from evaluator.files import lines, masks, rows
from evaluator.files.masks import GROUP_BYTES, MaskReader
from evaluator.files.rows import RowReader
from evaluator.metrics.mask_measures import Measures
from evaluator.problems import Findings
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import check, prepare, score
from evaluator.synthesis import synthesize
from tests.fuzz import costs, hostile
from tests.fuzz.hostile import Good

DETECTION = "openimages-detection"
LONG = "ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n"
KAGGLE = "ImageId,PredictionString\n"
GOOD = "i1,/m/cat,0.9,0.1,0.5,0.1,0.5\n"
LIMIT = 10_000


def found(tmp_path: Path, content: bytes | str, *, track: str = DETECTION, **options: Any) -> Findings:
    path = tmp_path / "submission"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return check(track, path, **options)


BAD = {
    "cells": "a\n",
    "numbers": "i1,/m/cat,x,0,1,0,1\n",
    "blank lines": "\n",
    "quotes": '"\n',
    "line breaks in quotes": 'a,"b\n',
    "NUL": "\0\n",
    "numbers that are too long": f"i1,/m/cat,{'1' * 70},0,1,0,1\n",
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_exactly_ten_thousand_defects_are_counted_and_further_ones_are_indicated(tmp_path: Path, bad: str) -> None:
    exact = found(tmp_path, LONG + bad * LIMIT + GOOD)
    over = found(tmp_path, LONG + bad * (LIMIT + 1) + GOOD)
    assert (exact.total, exact.more) == (LIMIT, False)
    assert (over.total, over.more) == (LIMIT, True)
    assert [p.line for p in over.errors] == list(range(2, 22))


@pytest.mark.parametrize("bad", ["a\n", "\n", "i1,/m/cat,x,0,1,0,1\n", "i1,\n", ""], ids=repr)
def test_every_kind_of_row_counts_towards_the_row_limit(tmp_path: Path, bad: str) -> None:
    findings = found(tmp_path, LONG + (bad or GOOD) * 8 + GOOD, resources=Resources(limits=Limits(boxes=5)))
    assert findings.errors[-1].code == "too_many_rows"
    assert (findings.errors[-1].line, findings.more) == (7, True)


@pytest.mark.parametrize("bad", ["a\n", "\n", "i1,x\n"], ids=repr)
def test_every_kind_of_prediction_string_row_counts_as_an_image(tmp_path: Path, bad: str) -> None:
    findings = found(tmp_path, KAGGLE + bad * 8 + "i2,\n", resources=Resources(limits=Limits(images=5)))
    assert (findings.errors[-1].code, findings.errors[-1].line) == ("too_many_rows", 7)


def test_blank_lines_at_the_end_are_not_a_defect_even_in_many_batches(tmp_path: Path) -> None:
    assert found(tmp_path, LONG + GOOD + " \n" * lines.CHUNK_BYTES).total == 0


def test_defects_of_rows_and_of_values_are_counted_in_file_order(tmp_path: Path) -> None:
    findings = found(tmp_path, LONG + "i1,/m/cat,x,0,1,0,1\na\n" * LIMIT)
    assert findings.counts == {"not_a_number": LIMIT // 2, "bad_width": LIMIT // 2}


def test_reading_stops_soon_after_the_last_counted_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    read = RowReader._read_line

    def counted(reader: RowReader, number: int, line: lines.Line) -> None:
        nonlocal looked_at
        looked_at += 1
        read(reader, number, line)

    monkeypatch.setattr(RowReader, "_read_line", counted)
    assert found(tmp_path, LONG + "a\n" * 1_000_000).more
    assert looked_at == 1 + LIMIT + 1
    looked_at = 0
    assert found(tmp_path, LONG + "i1,/m/cat,x,0,1,0,1\n" * 200_000).more
    assert looked_at < 2 * LIMIT


def test_reading_a_long_prediction_string_in_pieces_does_not_change_the_defects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = ["/m/cat 0.9 0.1 0.1 0.5 0.5", "/m/cat x 0.1\t0.1 0.5  y"] * 300
    content = KAGGLE + "\n".join(f"i{place},{' '.join(tokens)}" for place in range(3)) + "\ni9,x\n"
    whole = found(tmp_path, content).as_dict()
    monkeypatch.setattr(rows, "LONG_CHARACTERS", 100)
    assert found(tmp_path, content).as_dict() == whole
    assert whole["counts"] == {"not_a_number": 1800, "bad_tokens": 1}


def test_threads_and_batch_sizes_do_not_change_the_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, (_, good) = challenge(DETECTION, tmp_path)
    content = hostile.sparse(good) + b"unknown,/m/cat,x,0,1,0,1\n" * LIMIT
    answers = [
        found(tmp_path, content, truth=truth, resources=Resources(threads=threads)).as_dict() for threads in (1, 2, 3)
    ]
    monkeypatch.setattr(lines, "CHUNK_BYTES", 50_000)
    answers.append(found(tmp_path, content, truth=truth).as_dict())
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["more"]
    assert answers[0]["total"] == LIMIT


def challenge(track: str, folder: Path) -> tuple[Path, list[Good]]:
    made = synthesize(track, folder / track, images=30, qualities=(0.6,))
    names = sorted((name for name in made["files"] if name.startswith("submissions/")), key=len)
    prepare(track, folder / track / "truth", folder / "truth.podium")
    goods = [costs.good_of(TRACKS[track], (folder / track / name).read_bytes()) for name in names]
    return folder / "truth.podium", goods


@pytest.mark.parametrize("track", TRACKS)
def test_counting_stops_at_the_limit_for_every_hostile_file(
    track: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile, "SIZE", 1 << 15)
    truth, goods = challenge(track, tmp_path)
    for good, (name, maker) in product(goods, costs.shapes_of(goods[0]).items()):
        findings = found(
            tmp_path, maker(good), track=track, truth=truth, resources=Resources(limits=Limits(defects=100))
        )
        assert findings.total <= 100, name
        assert findings.more == (findings.total == 100 or "too_many_rows" in findings.counts), name
        assert all(len(problem.message) < 1_000 and len(problem.column or "") <= 256 for problem in findings.errors)


@pytest.mark.parametrize("track", TRACKS)
def test_files_that_the_cost_table_calls_legal_are_accepted(
    track: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile, "SIZE", 1 << 15)
    truth, goods = challenge(track, tmp_path)
    path = tmp_path / "legal"
    for good, maker in product(goods, costs.legal(goods[0]).values()):
        path.write_bytes(maker(good))
        assert score(ScoringRequest(track, truth, path)).splits


def test_a_gzip_file_with_too_many_members_is_rejected(tmp_path: Path) -> None:
    tiny = gzip.compress(b"", mtime=0)
    findings = found(tmp_path, gzip.compress((LONG + GOOD).encode()) + tiny * 5_000)
    assert findings.counts == {"bad_gzip": 1}
    assert "1,000 members" in findings.errors[0].message
    assert found(tmp_path, gzip.compress((LONG + GOOD).encode()) + tiny * 900).total == 0


def test_a_gzip_file_that_is_damaged_or_too_large_is_rejected_before_its_lines_are_read(tmp_path: Path) -> None:
    """A megabyte can contain a gigabyte of rows. Reading all of them would keep others waiting for minutes."""
    defects = LONG + "a,b\n" * 10
    assert found(tmp_path, gzip.compress(defects.encode())).counts == {"bad_width": 10}
    assert found(tmp_path, gzip.compress(defects.encode())[:-9]).counts == {"bad_gzip": 1}
    assert found(tmp_path, gzip.compress((defects + "b" * 20_000_000).encode())).counts == {"too_large": 1}


def test_zeros_between_gzip_members_may_be_longer_than_one_read(tmp_path: Path) -> None:
    content = gzip.compress(LONG.encode()) + bytes(3 * lines.FED_BYTES) + gzip.compress(b"a\n")
    assert found(tmp_path, content).counts == {"bad_width": 1}


def test_masks_are_unpacked_within_the_limits_of_the_file(tmp_path: Path) -> None:
    text = hostile.mask(b"1" * 60_000)
    header = "ImageID,ImageWidth,ImageHeight,LabelName,Score,Mask\n"
    content = header + f"i,10000,10000,cat,0.5,{text}\n" * 400
    findings = found(tmp_path, content, track="openimages-segmentation")
    assert 200 * len(content) < masks.RATIO_COUNTS_FROM_BYTES
    most = masks.RATIO_COUNTS_FROM_BYTES // 60_000
    assert findings.counts == {"bad_mask": most, "too_large": 1}
    assert findings.errors[-1].line == most + 2


def test_a_mask_that_decompresses_to_too_many_bytes_is_reported_with_the_limit(tmp_path: Path) -> None:
    content = f"ImageID,ImageWidth,ImageHeight,LabelName,Score,Mask\ni,4,4,cat,0.5,{hostile.mask(b'1' * 60_000)}\n"
    (problem,) = found(tmp_path, content, track="openimages-segmentation").errors
    assert (problem.code, problem.message) == ("bad_mask", "this mask decompresses to more than 108 bytes")


def test_masks_are_decoded_in_groups_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    measures_of = masks.measures_of

    def noted(group: list[bytes], *sides: NDArray[np.int64]) -> Measures:
        sizes.append(sum(map(len, group)))
        return measures_of(group, *sides)

    monkeypatch.setattr(masks, "measures_of", noted)
    sides = np.full(100, 346)
    MaskReader().masks([hostile.mask(b"1" * 59_997 + b"%03d" % index) for index in range(100)], sides, sides)
    assert sum(sizes) == 6_000_000
    assert max(sizes) <= GROUP_BYTES + 60_000


def test_repeated_keys_are_reported_in_file_order_with_short_paths(tmp_path: Path) -> None:
    long = "k" * 100_000
    content = f'{{"{long}": [{{}}, {{"a": 0, "a": 1}}], "b": [{{"c": 0, "c": 0}}], "b2": 0, "b2": 0}}'
    findings = found(tmp_path, content, track="flickr30k-retrieval")
    paths = [problem.column or "" for problem in findings.errors if "twice" in problem.message]
    assert [path[:4] for path in paths] == ["$.b2", "$.kk", "$.b["]
    assert max(map(len, paths)) <= 256


def test_the_command_line_reports_more_than_ten_thousand_defects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(LONG + "a\n" * 20_000)
    assert main(["check", DETECTION, "--submission", str(path)]) == 2
    assert "at least 10,000 defects: 10,000 bad_width" in capsys.readouterr().out
    assert main(["check", DETECTION, "--submission", str(path), "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert (answer["total"], answer["more"], answer["counts"]) == (LIMIT, True, {"bad_width": LIMIT})


def test_the_key_more_is_absent_if_every_defect_is_counted(tmp_path: Path) -> None:
    assert "more" not in found(tmp_path, LONG + "a\n").as_dict()
