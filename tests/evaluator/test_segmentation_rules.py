"""Tests segmentation rules on a 4 × 4 image, defects in masks, and agreement with a bitmap implementation."""

import base64
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pycocotools import mask as coco

from evaluator.metrics.average_precision import average_precision
from evaluator.problems import Findings, InvalidTruth
from evaluator.report import SplitReport
from evaluator.request import ScoringRequest
from evaluator.scoring import check, prepare, score

TRACK = "openimages-segmentation"
SIDE = 4
BOXES = "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf"
MASKS = "ImageID,LabelName,ImageWidth,ImageHeight,XMin,XMax,YMin,YMax,IsGroupOf,Mask"
LONG = "ImageID,ImageWidth,ImageHeight,LabelName,Score,Mask"
WHOLE, LEFT, TOP = (0, 4, 0, 4), (0, 2, 0, 4), (0, 4, 0, 2)
Pixels = NDArray[np.uint8]
Edges = tuple[int, int, int, int]


def drawn(edges: Edges, side: int = SIDE) -> Pixels:
    """Return a bitmap in which a rectangle with the given edges is set."""
    pixels = np.zeros((side, side), np.uint8)
    pixels[edges[2] : edges[3], edges[0] : edges[1]] = 1
    return pixels


def text(pixels: Pixels) -> str:
    return packed(coco.encode(np.asfortranarray(pixels))["counts"])


def packed(compressed: bytes) -> str:
    return base64.b64encode(zlib.compress(compressed)).decode()


def mask(edges: Edges) -> str:
    return text(drawn(edges))


def box(edges: Edges, side: int = SIDE) -> str:
    return ",".join(str(edge / side) for edge in edges)


def truth(tmp_path: Path, objects: Sequence[tuple[Edges, int, bool]], **files: str) -> Path:
    """Write a ground truth in which image i has cats. Each object is (edges, 1 for a group, whether it has a mask)."""
    folder = tmp_path / "truth"
    folder.mkdir(exist_ok=True)
    boxes = [f"i,cat,{box(edges)},{group}" for edges, group, _ in objects]
    masks = [f"i,cat,4,4,{box(edges)},{group},{mask(edges)}" for edges, group, masked in objects if masked]
    contents = {"boxes": [BOXES, *boxes], "masks": [MASKS, *masks]}
    contents["image_labels"] = ["ImageID,LabelName,Confidence", "i,cat,1"]
    written = {name: "\n".join(lines) + "\n" for name, lines in contents.items()} | files
    for name, content in written.items():
        (folder / f"{name}.csv").write_text(content)
    return folder


def submission(tmp_path: Path, rows: Sequence[str]) -> Path:
    path = tmp_path / "masks-of-mine.csv"
    path.write_text("\n".join([LONG, *rows]) + "\n")
    return path


def scored(
    tmp_path: Path, objects: Sequence[tuple[Edges, int, bool]], found: Sequence[tuple[float, Edges]], **parameters: Any
) -> dict[str, Any]:
    path = submission(tmp_path, [f"i,4,4,cat,{confidence},{mask(edges)}" for confidence, edges in found])
    report = score(ScoringRequest(TRACK, truth(tmp_path, objects), path, parameters=parameters))
    split: SplitReport = report.splits["all"]
    return dict(split.classes[0])


RULES = [
    pytest.param([(WHOLE, 0, True)], [(0.9, LEFT)], (1.0, 1, 1.0), id="an IoU of one half is enough"),
    pytest.param([(WHOLE, 0, True)], [(0.9, (0, 2, 0, 3))], (0.0, 1, 0.0), id="a lower IoU is not enough"),
    pytest.param([(WHOLE, 0, True)], [(0.9, WHOLE), (0.8, WHOLE)], (1.0, 2, 1.0), id="a duplicate is a false positive"),
    pytest.param([(WHOLE, 1, True)], [(0.9, LEFT), (0.8, TOP)], (1.0, 1, 1.0), id="a group absorbs what is in it"),
    pytest.param([(LEFT, 1, True)], [(0.9, TOP)], (1.0, 1, 1.0), id="half inside a group is enough"),
    pytest.param([(LEFT, 0, True), (TOP, 0, False)], [(0.9, TOP), (0.8, LEFT)], (1.0, 1, 1.0),
                 id="a box without a mask hides one detection"),
    pytest.param([(LEFT, 0, True), (TOP, 0, False)], [(0.9, TOP), (0.8, TOP), (0.7, LEFT)], (0.5, 2, 1.0),
                 id="and hides only one"),
    pytest.param([(LEFT, 0, True), (TOP, 1, False)], [(0.9, TOP), (0.8, TOP), (0.7, LEFT)], (1.0, 1, 1.0),
                 id="a group without a mask hides all detections"),
    pytest.param([(TOP, 0, False)], [(0.9, TOP)], (None, 0, 0.0), id="no object has a mask"),
]  # fmt: skip


@pytest.mark.parametrize(("objects", "found", "expected"), RULES)
def test_detections_are_matched_by_masks(
    tmp_path: Path, objects: list[Any], found: list[Any], expected: tuple[float | None, int, float]
) -> None:
    row = scored(tmp_path, objects, found)
    assert (row["ap"], row["scored"], row["true_positives"]) == expected


def test_a_group_without_weight_only_absorbs(tmp_path: Path) -> None:
    row = scored(tmp_path, [(LEFT, 0, True), (TOP, 1, True)], [(0.9, TOP), (0.8, LEFT)], group_of_weight=0)
    assert (row["ap"], row["truths"], row["scored"]) == (1.0, 1.0, 1)


def test_masks_are_compared_in_single_precision(tmp_path: Path) -> None:
    """An IoU of 7/10 reaches a threshold of 0.7, because both are rounded to single precision."""
    wide = [(0.9, (0, 4, 0, 1))]
    row = scored(tmp_path, [((0, 3, 0, 1), 0, True)], wide, iou_threshold=0.75)
    assert row["ap"] == 1.0
    assert float(np.float32(7) / np.float32(10)) < 0.7
    pixels, ten = np.zeros((4, 4), np.uint8), np.zeros((4, 4), np.uint8)
    pixels.ravel()[:7] = ten.ravel()[:10] = 1
    folder = truth(tmp_path, [])
    (folder / "boxes.csv").write_text(f"{BOXES}\ni,cat,0,1,0,1,0\n")
    (folder / "masks.csv").write_text(f"{MASKS}\ni,cat,4,4,0,1,0,1,0,{text(ten)}\n")
    path = submission(tmp_path, [f"i,4,4,cat,0.9,{text(pixels)}"])
    report = score(ScoringRequest(TRACK, folder, path, parameters={"iou_threshold": 0.7}))
    assert report.splits["all"].metrics["mAP"] == 1.0


def test_a_mask_belongs_to_the_box_with_equal_coordinates(tmp_path: Path) -> None:
    folder = truth(tmp_path, [(LEFT, 0, True)])
    (folder / "boxes.csv").write_text(f"{BOXES}\ni,cat,0.0,0.50,0,1.0,0\ni,cat,0,0.5,0,1,0\n")
    path = submission(tmp_path, [f"i,4,4,cat,0.9,{mask(LEFT)}"])
    (row,) = score(ScoringRequest(TRACK, folder, path)).splits["all"].classes
    assert (row["ap"], row["truths"]) == (1.0, 1.0)  # Only one of the two equal boxes gets the annotated mask.


def test_a_mask_without_a_box_is_an_object_but_an_empty_mask_is_not(tmp_path: Path) -> None:
    folder = truth(tmp_path, [])
    nothing = text(np.zeros((4, 4), np.uint8))
    (folder / "masks.csv").write_text(
        f"{MASKS}\ni,cat,4,4,{box(LEFT)},0,{mask(LEFT)}\ni,cat,4,4,{box(TOP)},0,{nothing}\n"
    )
    path = submission(tmp_path, [f"i,4,4,cat,0.9,{mask(LEFT)}", f"i,4,4,cat,0.8,{nothing}"])
    report = score(ScoringRequest(TRACK, folder, path))
    assert report.splits["all"].classes[0]["truths"] == 1.0
    assert report.splits["all"].metrics["mAP"] == 1.0
    assert [(notice.code, notice.count) for notice in report.notices] == [("empty_mask", 1)]


def checked(tmp_path: Path, *rows: str) -> Findings:
    listed = "ImageID\ni\nj\n"
    return check(TRACK, submission(tmp_path, rows), truth=truth(tmp_path, [(LEFT, 0, True)], images=listed))


GOOD = f"i,4,4,cat,0.9,{mask(LEFT)}"
DEFECTS = [
    pytest.param(f"i,4,4,cat,0.9,{mask(LEFT)[:-1]}", "bad_mask", "Mask", id="truncated base64"),
    pytest.param("i,4,4,cat,0.9,not base64!", "bad_mask", "Mask", id="invalid base64"),
    pytest.param("i,4,4,cat,0.9,AAAA", "bad_mask", "Mask", id="invalid zlib data"),
    pytest.param(f"i,4,4,cat,0.9,{base64.b64encode(zlib.compress(b'44')[:-2]).decode()}", "bad_mask", "Mask",
                 id="truncated zlib data"),
    pytest.param(f"i,4,4,cat,0.9,{packed(b'!!')}", "bad_mask", "Mask", id="invalid run lengths"),
    pytest.param(f"i,4,4,cat,0.9,{packed(b'8P')}", "bad_mask", "Mask", id="an incomplete run length"),
    pytest.param(f"i,4,4,cat,0.9,{packed(b'44')}", "bad_mask", "Mask", id="too few pixels"),
    pytest.param(f"i,4,4,cat,0.9,{packed(b'88N')}", "bad_mask", "Mask", id="a negative run"),
    pytest.param(f"i,4,4,cat,0.9,{packed(bytes(10**7))}", "bad_mask", "Mask", id="a decompression bomb"),
    pytest.param(f"i,4,4,cat,0.9,{packed(b'')}", "bad_mask", "Mask", id="no runs"),
    pytest.param(f"i,8,2,cat,0.9,{packed(b'88')}", "bad_mask", "ImageWidth", id="a different image size"),
    pytest.param(f"j,0,4,cat,0.9,{mask(LEFT)}", "not_a_number", "ImageWidth", id="width zero"),
    pytest.param(f"j,4,4.0,cat,0.9,{mask(LEFT)}", "not_a_number", "ImageHeight", id="a height that is not an integer"),
    pytest.param(f"j,4,99999,cat,0.9,{mask(LEFT)}", "not_a_number", "ImageHeight", id="a huge height"),
    pytest.param(f"j,,4,cat,0.9,{mask(LEFT)}", "missing_value", "ImageWidth", id="a missing width"),
    pytest.param(f"k,4,4,cat,0.9,{mask(LEFT)}", "unknown_image", "ImageID", id="an unknown image"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "code", "column"), DEFECTS)
def test_a_defect_is_reported_with_line_and_column(tmp_path: Path, row: str, code: str, column: str) -> None:
    first = checked(tmp_path, GOOD, row).errors[0]
    assert (first.code, first.line, first.column) == (code, 3, column)


def test_a_bad_mask_in_a_string_is_reported_with_its_token(tmp_path: Path) -> None:
    path = tmp_path / "strings.csv"
    path.write_text(f"ImageID,ImageWidth,ImageHeight,PredictionString\ni,4,4,cat 0.9 {mask(LEFT)} cat 0.8 AAAA\n")
    (problem,) = check(TRACK, path, truth=truth(tmp_path, [(LEFT, 0, True)])).errors
    assert (problem.code, problem.line, problem.token, problem.image) == ("bad_mask", 2, 6, "i")


def test_an_image_without_masks_in_the_truth_may_have_any_size(tmp_path: Path) -> None:
    assert checked(tmp_path, GOOD, f"j,2,3,cat,0.9,{packed(b'6')}").errors == []


def compressed(lengths: list[int]) -> bytes:
    """Encode run lengths in the compressed format of COCO, with five bits per character."""
    written = bytearray()
    for place, length in enumerate(lengths):
        rest = length - lengths[place - 2] if place > 2 else length
        while not -16 <= rest < 16:
            written.append(48 + 32 + (rest & 31))
            rest >>= 5
        written.append(48 + (rest & 31))
    return bytes(written)


@pytest.mark.parametrize(
    "lengths", [[0, 16], [0, 6, 0, 10], [0, 6, 0, 0, 0, 10], [0, 0, 0, 16, 0], [4, 0, 0, 4, 0, 4, 4], [16, 0]]
)
def test_empty_runs_do_not_change_the_score(tmp_path: Path, lengths: list[int]) -> None:
    """Other tools may write empty runs, which must not end the comparison of two masks too early."""
    pixels = np.repeat(np.arange(len(lengths)) % 2, lengths).astype(np.uint8).reshape(4, 4).T
    ways = packed(compressed(lengths)), text(pixels)
    reports = set()
    for of_truth in ways:
        folder = truth(tmp_path, [(WHOLE, 0, False)], masks=f"{MASKS}\ni,cat,4,4,{box(WHOLE)},0,{of_truth}\n")
        for mine in ways:
            report = score(ScoringRequest(TRACK, folder, submission(tmp_path, [f"i,4,4,cat,0.9,{mine}"])))
            reports.add(str(report.splits["all"].as_dict()))
    assert len(reports) == 1
    assert ("'mAP': 1.0" in reports.pop()) is bool(pixels.any())


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (f"i,cat,4,4,{box(LEFT)},0,AAAA", "Mask"),
        (f"i,cat,4,4,{box(LEFT)},0,{packed(b'88')[:8]}", "Mask"),
        (f"i,cat,0,4,{box(LEFT)},0,{mask(LEFT)}", "ImageWidth"),
        (f"i,cat,x,4,{box(LEFT)},0,{mask(LEFT)}", "ImageWidth"),
        (f"i,cat,8,2,{box(LEFT)},0,{packed(b'88')}\ni,cat,4,4,{box(LEFT)},0,{mask(LEFT)}", "ImageWidth"),
    ],
)
def test_a_faulty_mask_in_the_truth_is_reported_with_its_location(tmp_path: Path, row: str, column: str) -> None:
    folder = truth(tmp_path, [], masks=f"{MASKS}\n{row}\n")
    with pytest.raises(InvalidTruth) as caught:
        prepare(TRACK, folder, tmp_path / "t.podium")
    first = caught.value.problems[0]
    assert (first.code, first.file, first.line, first.column) == ("truth_bad_value", "masks.csv", 2, column)


def by_bitmaps(
    objects: list[tuple[Edges, bool, bool]], found: list[tuple[float, Edges]], side: int
) -> tuple[float, int, float]:
    """Return the AP, the number of entries in the precision-recall curve, and the number of hits, using bitmaps."""
    order = sorted(range(len(found)), key=lambda n: -found[n][0])
    state: dict[int, str] = {}

    def best(n: int, group: bool, masked: bool) -> tuple[int, np.floating[Any] | float]:
        shares: list[tuple[Any, int]] = [(0.0, -1)]
        for place, (edges, is_group, has_mask) in enumerate(objects):
            if (is_group, has_mask) == (group, masked):
                mine, its = drawn(found[n][1], side), drawn(edges, side)
                common, area = np.float32((mine & its).sum()), np.float32(mine.sum())
                union = area + np.float32(its.sum()) - common
                whole = (area + np.float32(1e-7)) if group else max(union, np.float32(1e-7))
                shares.append((common / whole, -place))
        share, place = max(shares)
        return -place, share

    for kind in ("hit", "in", "gone", "gone group"):
        group, masked, word = kind in ("in", "gone group"), kind in ("hit", "in"), kind.split()[0]
        taken: set[int] = set()
        for n in order:
            place, share = best(n, group, masked)
            if n not in state and share >= 0.5 and (group or place not in taken):
                taken.add(place)
                state[n] = f"{word}{place}"
    groups = {word: max(found[n][0] for n in state if state[n] == word) for word in state.values() if word[:2] == "in"}
    entries = [(found[n][0], float(n in state)) for n in order if state.get(n, "hit").startswith("hit")]
    entries += [(confidence, 1.0) for confidence in groups.values()]
    truths, values = sum(masked for _, _, masked in objects), np.array(entries).reshape(-1, 2)
    return average_precision(values[:, 0], values[:, 1], truths), len(entries), sum(hit for _, hit in entries)


side = 8  # The side of the image in pixels: a power of two, so that coordinates from 0 to 1 are exact.
edges = st.tuples(*(st.integers(0, side - 1), st.integers(1, 3)) * 2).map(
    lambda t: (t[0], min(t[0] + t[1], side), t[2], min(t[2] + t[3], side))
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    objects=st.lists(st.tuples(edges, st.booleans(), st.booleans()), max_size=6),
    found=st.lists(edges, max_size=8),
    chance=st.randoms(use_true_random=False),
)
def test_scores_agree_with_bitmaps(tmp_path: Path, objects: list[Any], found: list[Any], chance: Any) -> None:
    confidences = chance.sample(range(1, 100), len(found))  # Equal confidences would have no defined order.
    pairs = [(confidence / 100, each) for confidence, each in zip(confidences, found, strict=True)]
    folder = truth(tmp_path, [])
    rows = [(f"i,cat,{box(where, side)},{int(group)}", where, masked) for where, group, masked in objects]
    (folder / "boxes.csv").write_text("\n".join([BOXES, *(row for row, _, _ in rows)]) + "\n")
    size = f"i,cat,{side},{side},"
    masks = [row.replace("i,cat,", size) + f",{text(drawn(where, side))}" for row, where, masked in rows if masked]
    (folder / "masks.csv").write_text("\n".join([MASKS, *masks]) + "\n")
    path = submission(tmp_path, [f"i,{side},{side},cat,{c},{text(drawn(where, side))}" for c, where in pairs])
    (row,) = score(ScoringRequest(TRACK, folder, path)).splits["all"].classes
    expected = by_bitmaps(objects, pairs, side)
    assert (row["scored"], row["true_positives"]) == expected[1:]
    assert row["ap"] == (None if np.isnan(expected[0]) else expected[0])
