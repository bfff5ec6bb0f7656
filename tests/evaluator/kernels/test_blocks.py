"""The positions at which a file is split into blocks do not affect the result of either implementation."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import Limits
from evaluator.files import lines
from evaluator.files.blocks import Blocks, Declined
from evaluator.request import Resources
from evaluator.scoring import check
from tests.evaluator.kernels import cases

TRACK = "openimages-detection"
CAT = "cat 0.5 0 0 0.5 0.5"
HEADER = "ImageId,PredictionString"
MIB = 1 << 20


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    (folder / "boxes.csv").write_text(
        "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,cat,0,0.5,0,0.5,0\nwow!,cat,0,0.5,0,0.5,0\n"
    )
    (folder / "image_labels.csv").write_text("ImageID,LabelName,Confidence\n")
    return folder


def answers(truth: Path, content: bytes, **options: Any) -> tuple[str, dict[str, Any]]:
    """Score a file with both implementations and check that the results are equal.

    Return the name of the default implementation for this file, and the result.
    """
    submission = truth.parent / "submission"
    submission.write_bytes(content)
    way, fast, reference = cases.both(TRACK, truth, submission, **options)
    assert fast == reference
    return way, fast


def zipped(*members: str) -> bytes:
    return b"".join(gzip.compress(member.encode()) for member in members)


def test_a_column_of_prediction_strings_may_precede_the_image_column(truth: Path) -> None:
    way, report = answers(truth, f"PredictionString,ImageId\n{CAT},a\n".encode())
    assert way == "reference implementation: a column of prediction strings before the image column"
    assert report["splits"]["all"]["metrics"]["mAP"] == 0.5
    assert answers(truth, b"PredictionString,ImageId\ncat,\n")[1]["counts"] == {"bad_tokens": 1}


def test_an_id_with_an_exclamation_mark_is_matched(truth: Path) -> None:
    way, report = answers(truth, f"{HEADER}\nwow!,{CAT}\n".encode())
    assert (way, report["notices"]) == ("fast path", [])


@pytest.mark.parametrize("cut", range(1, len(HEADER) + 4))
def test_a_header_may_be_split_between_two_members_of_a_gzip_file(truth: Path, cut: int) -> None:
    content = f"{HEADER}\na,{CAT}\n"
    assert answers(truth, zipped(content[:cut], content[cut:]))[0] == "fast path"


def test_a_header_without_line_ending_continues_in_the_next_gzip_member(truth: Path) -> None:
    assert answers(truth, zipped(HEADER, f"z,\na,{CAT}\n"))[1]["counts"].keys() == {"bad_header"}


def read_to_the_end(path: Path) -> None:
    with Blocks(path, Limits()) as blocks:
        blocks.header()
        while blocks.take(bytearray()):
            pass


@pytest.mark.parametrize(
    "damage", [b"garbage", zipped("b,\n")[:-9]], ids=["bytes after the end", "an incomplete member"]
)
def test_damage_at_the_end_of_a_chunk_is_not_taken_for_the_end_of_the_file(tmp_path: Path, damage: bytes) -> None:
    rows = f"{HEADER}\n" + "".join(f"image {number:07},\n" for number in range(lines.CHUNK_BYTES // 15))
    path = tmp_path / "submission"
    path.write_bytes(zipped(rows) + damage)
    with pytest.raises(Declined, match="DAMAGED_GZIP"):
        read_to_the_end(path)


def test_a_byte_order_mark_may_be_split_between_two_members_of_a_gzip_file(truth: Path) -> None:
    content = f"\ufeff{HEADER}\na,{CAT}\n".encode()
    way, _ = answers(truth, gzip.compress(content[:2]) + gzip.compress(content[2:]))
    assert way == "fast path"


@pytest.mark.parametrize("line_bytes", [MIB, 2 * MIB - 1, 2 * MIB, 3 * MIB])
@pytest.mark.parametrize("length", [MIB - 1, MIB, MIB + 1, 2 * MIB, 2 * MIB + 1, 3 * MIB + 1])
def test_a_line_that_is_too_long_is_rejected_at_any_offset(truth: Path, line_bytes: int, length: int) -> None:
    content = f"{HEADER}\na,\nb,".encode() + b" " * (length - 2) + b"\nc,\n"
    way, answer = answers(truth, content, resources=Resources(limits=Limits(line_bytes=line_bytes)))
    assert (answer.get("counts") == {"line_too_long": 1}) == (length > line_bytes)
    assert (way == "rejected") == (length > line_bytes)


STOPPED = {
    "a bad header": b"ImageId\na,\n\xff,\nb,\0\n",
    "too many images": f"{HEADER}\na,cat nan 0 0 1 1\nb\nc,x\nd,\ne,{CAT}\n\n\xff\n".encode("latin-1"),
    "a very long line": f"{HEADER}\na,cat nan 0 0 1 1\nb,\xff\n".encode("latin-1") + b"c," + b" " * 500 + b"\nd,\xff\n",
    "line endings of every kind": f"{HEADER}\r\na,cat nan 0 0 1 1\rb\r\n\r\rc,\0\n\rd,\xff\r".encode("latin-1"),
}


@pytest.mark.parametrize("content", STOPPED.values(), ids=STOPPED)
def test_batches_of_any_size_give_the_same_defects_of_a_bad_file(
    truth: Path, tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = tmp_path / "submission"
    submission.write_bytes(content)
    limits = Limits(images=3, line_bytes=200)
    whole = check(TRACK, submission, truth=truth, resources=Resources(limits=limits))
    assert whole.total
    for size in (lines.SIGNATURE_BYTES, *range(1, 40)):
        monkeypatch.setattr(lines, "CHUNK_BYTES", size)
        assert check(TRACK, submission, truth=truth, resources=Resources(limits=limits)).as_dict() == whole.as_dict()
