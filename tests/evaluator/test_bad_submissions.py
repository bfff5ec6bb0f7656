"""Every kind of defect is reported with its code, line and column."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from evaluator.catalog import Limits
from evaluator.problems import Findings
from evaluator.request import Resources
from evaluator.scoring import check

DETECTION, RELATIONSHIPS = "openimages-detection", "openimages-relationships"
LONG = "ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n"
KAGGLE = "ImageId,PredictionString\n"
PAIRS = "ImageID,LabelName1,LabelName2,RelationshipLabel,Score," + ",".join(
    f"{name}{n}" for n in (1, 2) for name in ("XMin", "XMax", "YMin", "YMax")
)
GOOD = "i1,/m/cat,0.9,0.1,0.5,0.1,0.5\n"
TOKENS = "/m/cat 0.9 0.1 0.1 0.5 0.5"
PAIR = "i1,/m/man,/m/guitar,plays,0.9,0.1,0.5,0.1,0.5,0.4,0.9,0.4,0.9\n"
PAIR_TOKENS = "0.9 /m/man 0.1 0.1 0.5 0.5 /m/guitar 0.4 0.4 0.9 0.9 plays"
UNKNOWN_TOKENS = PAIR_TOKENS.replace("plays", "eats")
USUAL = Resources()


def checked(tmp_path: Path, content: bytes | str, *, track: str = DETECTION, resources: Resources = USUAL) -> Findings:
    path = tmp_path / "submission.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return check(track, path, truth=truth_of(tmp_path, track), resources=resources)


def truth_of(tmp_path: Path, track: str) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir(exist_ok=True)
    (folder / "images.csv").write_text("ImageID\ni1\ni2\ni3\n")
    if track == DETECTION:
        (folder / "classes.csv").write_text("/m/cat,Cat\n/m/dog,Dog\n")
        boxes = "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\ni1,/m/cat,0.1,0.5,0.1,0.5,0\n"
        (folder / "boxes.csv").write_text(boxes)
        (folder / "image_labels.csv").write_text("ImageID,LabelName,Confidence\ni1,/m/cat,1\n")
    else:
        (folder / "classes.csv").write_text("/m/man,Man\n/m/guitar,Guitar\n")
        (folder / "relations.csv").write_text("plays,plays\n")
        (folder / "relationships.csv").write_text(
            PAIRS.replace(",Score", "") + "\n" + PAIR.replace(",0.9,0.1", ",0.1", 1)
        )
    return folder


ACCEPTED = [
    pytest.param("\ufeff" + LONG + GOOD, id="byte order mark"),
    pytest.param(LONG + GOOD.replace("\n", "\r\n"), id="CRLF in rows only"),
    pytest.param((LONG + GOOD).replace("\n", "\r\n"), id="CRLF"),
    pytest.param((LONG + GOOD + GOOD).replace("\n", "\r"), id="CR"),
    pytest.param(LONG + GOOD.rstrip("\n"), id="no line ending at the end"),
    pytest.param(LONG + GOOD + "\n\n", id="blank lines at the end"),
    pytest.param(LONG + GOOD + "  \t\n", id="a line of blanks at the end"),
    pytest.param(LONG, id="header only"),
    pytest.param(KAGGLE, id="header only, strings"),
    pytest.param(KAGGLE.rstrip("\n"), id="header without line ending"),
    pytest.param(LONG + '"i1","/m/cat","0.9",0.1,0.5,"0.1",0.5\n', id="quoted cells"),
    pytest.param(LONG + "i1,/m/cat, 0.9 ,\t0.1,0.5,0.1,0.5\n", id="blanks around numbers"),
    pytest.param(LONG + "i1,/m/cat,+0.5,.5,9e-1,1E0,-0\n", id="signs, bare point, exponents"),
    pytest.param(LONG + "i1,/m/cat,1e-999,0.1,5.,0.1,0.5\n", id="underflow to zero"),
    pytest.param("imageid,LABELNAME,score,xmin,xmax,ymin,YMAX\n" + GOOD, id="letter case of the header"),
    pytest.param("XMin,XMax,YMin,YMax,Score,LabelName,ImageId\n0.1,0.5,0.1,0.5,0.9,/m/cat,i1\n", id="order of columns"),
    pytest.param(KAGGLE + f"i1,{TOKENS}\ni2,\n", id="an empty string"),
    pytest.param(KAGGLE + f"i1,  {TOKENS.replace(' ', '   ')} \n", id="several blanks between tokens"),
    pytest.param(KAGGLE + f"i1,{TOKENS} {TOKENS}\n", id="the same prediction twice"),
    pytest.param(KAGGLE + f'"i1","{TOKENS}"\n', id="quoted string"),
    pytest.param("PredictionString,ImageId\n" + f"{TOKENS},i1\n", id="string first"),
    pytest.param(gzip.compress((LONG + GOOD).encode()), id="gzip"),
    pytest.param(gzip.compress(LONG.encode()) + gzip.compress(GOOD.encode()), id="gzip of two members"),
]


@pytest.mark.parametrize("content", ACCEPTED)
def test_an_unusual_file_is_accepted(tmp_path: Path, content: bytes | str) -> None:
    assert checked(tmp_path, content).errors == []


def long(**cells: str) -> str:
    row = dict(zip(LONG.strip().split(","), GOOD.strip().split(","), strict=True)) | cells
    return LONG + GOOD + ",".join(row.values()) + "\n"


def kaggle(place: int, text: str) -> str:
    tokens = TOKENS.split()
    tokens[place - 1] = text
    return KAGGLE + f"i1,{TOKENS}\n" + f"i2,{TOKENS} {' '.join(tokens)}\n"


def zipped(name: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, LONG + GOOD)
    return content.getvalue()


VALUES = [
    ("nan", "not_finite"),
    ("NaN", "not_finite"),
    ("inf", "not_finite"),
    ("-Infinity", "not_finite"),
    ("1e999", "not_finite"),
    ("\u0661", "not_a_number"),  # Python's float() accepts the Arabic-Indic digit one.
    ("\uff11", "not_a_number"),  # Python's float() accepts the full-width digit one.
    ("1_0", "not_a_number"),
    ("0x10", "not_a_number"),
    ("NA", "not_a_number"),
    ("True", "not_a_number"),
    ("=1+1", "not_a_number"),
    ("np.float64(0.38)", "not_a_number"),
    ("1e", "not_a_number"),
    ("--1", "not_a_number"),
    (".", "not_a_number"),
    ("\u22120.5", "not_a_number"),  # The minus sign is U+2212 instead of the ASCII hyphen.
    ("1" * 400, "field_too_long"),
]


@pytest.mark.parametrize(("text", "code"), VALUES)
@pytest.mark.parametrize("column", ["Score", "XMin", "YMax"])
def test_a_bad_number_in_a_cell_has_line_and_column(tmp_path: Path, text: str, code: str, column: str) -> None:
    (problem,) = checked(tmp_path, long(**{column: text})).errors
    assert (problem.code, problem.line, problem.column, problem.image) == (code, 3, column, "i1")


@pytest.mark.parametrize(("text", "code"), VALUES)
def test_a_bad_number_in_a_string_is_reported_with_line_and_token(tmp_path: Path, text: str, code: str) -> None:
    (problem,) = checked(tmp_path, kaggle(4, text)).errors
    assert (problem.code, problem.line, problem.column, problem.token) == (code, 3, "PredictionString", 10)


REJECTED = [
    pytest.param(b"", "empty", None, None, id="empty"),
    pytest.param(b"\xef\xbb\xbf", "empty", None, None, id="only a byte order mark"),
    pytest.param(b"\n \n", "empty", None, None, id="blank"),
    pytest.param(gzip.compress(b""), "empty", None, None, id="empty gzip"),
    pytest.param((LONG + GOOD).encode("utf-16"), "encoding", 1, None, id="UTF-16"),
    pytest.param((LONG + GOOD).encode("utf-16-le"), "encoding", 1, None, id="UTF-16 without byte order mark"),
    pytest.param(LONG.encode() + b"caf\xe9,/m/cat,0.9,0.1,0.5,0.1,0.5\n", "encoding", 2, None, id="Latin-1"),
    pytest.param(LONG + GOOD + "\n" + GOOD, "bad_row", 3, None, id="blank line between rows"),
    pytest.param("\n" + LONG + GOOD, "bad_row", 1, None, id="blank line before the header"),
    pytest.param(long(Score=""), "missing_value", 3, "Score", id="empty number"),
    pytest.param(long(Score="  "), "missing_value", 3, "Score", id="blank number"),
    pytest.param(long(ImageID=""), "missing_value", 3, "ImageID", id="empty image"),
    pytest.param(long(LabelName=""), "missing_value", 3, "LabelName", id="empty label"),
    pytest.param(KAGGLE + f",{TOKENS}\n", "missing_value", 2, "ImageId", id="empty image, prediction strings"),
    pytest.param((LONG + GOOD).encode("utf-16-be"), "encoding", 1, None, id="big-endian UTF-16 without a mark"),
    pytest.param(gzip.compress(gzip.compress(b"a")), "not_csv", None, None, id="gzipped twice"),
    pytest.param(long(Score='"0,5"'), "not_a_number", 3, "Score", id="decimal comma in quotes"),
    pytest.param(long(Score="0,5"), "bad_width", 3, None, id="decimal comma"),
    pytest.param(kaggle(2, "0,5"), "bad_width", 3, None, id="decimal comma in an unquoted string"),
    pytest.param(LONG + "i1,/m/cat,0.9,0.1,0.5,0.1\n", "bad_width", 2, None, id="one cell missing"),
    pytest.param(LONG + GOOD.strip() + ",\n", "bad_width", 2, None, id="one extra cell"),
    pytest.param(KAGGLE + "i1\n", "bad_width", 2, None, id="no comma"),
    pytest.param(LONG + GOOD.replace("/m/cat", "/m/c\0t"), "bad_byte", 2, None, id="NUL"),
    pytest.param(GOOD, "bad_header", 1, "ImageID", id="no header"),
    pytest.param(LONG.replace("Score", "Confidence"), "bad_header", 1, "Score", id="a wrong column name"),
    pytest.param(LONG.strip() + ",Extra\n", "bad_header", 1, "Extra", id="an extra column"),
    pytest.param(LONG.replace("XMax", "XMin"), "bad_header", 1, "XMin", id="a repeated column"),
    pytest.param("imageid,ImageID" + LONG[7:], "bad_header", 1, "ImageID", id="a column repeated in lower case"),
    pytest.param(LONG.replace(",", ";"), "bad_header", 1, "ImageID", id="semicolons"),
    pytest.param(LONG.replace(",", "\t"), "bad_header", 1, "ImageID", id="tabs"),
    pytest.param(LONG + 'i1,"/m/c\nat",0.9,0.1,0.5,0.1,0.5\n', "bad_quote", 2, None, id="line break in quotes"),
    pytest.param(LONG + 'i1,"/m/cat,0.9,0.1,0.5,0.1,0.5\n', "bad_quote", 2, None, id="unclosed quote"),
    pytest.param(LONG + 'i1,"/m/cat"x,0.9,0.1,0.5,0.1,0.5\n', "bad_quote", 2, None, id="text after a quote"),
    pytest.param(LONG + 'i1,/m/"cat",0.9,0.1,0.5,0.1,0.5\n', "bad_quote", 2, None, id="quote inside a cell"),
    pytest.param(KAGGLE + f"i1,{TOKENS}\ni2,\ni1,\n", "duplicate_image", 4, "ImageId", id="repeated image"),
    pytest.param(long(ImageID="i9"), "unknown_image", 3, "ImageID", id="unknown image"),
    pytest.param(long(ImageID="i1 "), "unknown_image", 3, "ImageID", id="image with a blank"),
    pytest.param(KAGGLE + "i9,\n", "unknown_image", 2, "ImageId", id="unknown image, strings"),
    pytest.param(long(LabelName="/m/car"), "unknown_label", 3, "LabelName", id="unknown label"),
    pytest.param(kaggle(1, "/m/car"), "unknown_label", 3, "PredictionString", id="unknown label, strings"),
    pytest.param(KAGGLE + f"i1,{TOKENS} 0.5\n", "bad_tokens", 2, "PredictionString", id="token count"),
    pytest.param(KAGGLE + "i1,0.5\n", "bad_tokens", 2, "PredictionString", id="one token"),
    pytest.param(KAGGLE + f"i1,{TOKENS};{TOKENS}\n", "bad_tokens", 2, "PredictionString", id="semicolons in a string"),
    pytest.param(zipped("a.csv"), "not_csv", None, None, id="zip"),
    pytest.param(zipped("xl/workbook.xml"), "not_csv", None, None, id="xlsx"),
    pytest.param(b"\x80\x04\x95rest", "not_csv", None, None, id="pickle"),
    pytest.param(b"\x89PNG\r\n\x1a\nrest", "not_csv", None, None, id="PNG"),
    pytest.param(gzip.compress(zipped("a.csv")), "not_csv", None, None, id="gzipped zip"),
    pytest.param(gzip.compress(bytes(20_000_000)), "too_large", None, None, id="gzip bomb"),
    pytest.param(gzip.compress((LONG + GOOD).encode())[:-9], "bad_gzip", None, None, id="gzip cut off"),
    pytest.param(gzip.compress(LONG.encode())[:12], "bad_gzip", None, None, id="gzip cut off early"),
    pytest.param(gzip.compress(LONG.encode()) + b"rest", "bad_gzip", None, None, id="gzip with trailing bytes"),
    pytest.param(b"\x1f\x8b", "bad_gzip", None, None, id="only the gzip magic bytes"),
    pytest.param(long(LabelName="x" * 257), "field_too_long", 3, "LabelName", id="long label"),
    pytest.param(long(ImageID="x" * 257), "field_too_long", 3, "ImageID", id="long image"),
]


@pytest.mark.parametrize(("content", "code", "line", "column"), REJECTED)
def test_a_bad_file_is_rejected(
    tmp_path: Path, content: bytes | str, code: str, line: int | None, column: str | None
) -> None:
    first = checked(tmp_path, content).errors[0]
    assert (first.code, first.line, first.column) == (code, line, column)


@pytest.mark.parametrize(
    ("content", "code", "line", "column", "token"),
    [
        (PAIRS + "\n" + PAIR.replace("plays", "eats"), "unknown_label", 2, "RelationshipLabel", None),
        (PAIRS + "\n" + PAIR.replace("/m/man", "/m/x"), "unknown_label", 2, "LabelName1", None),
        (PAIRS + "\n" + PAIR.replace(",0.9,0.1", ",nan,0.1"), "not_finite", 2, "Score", None),
        (KAGGLE + f"i1,{PAIR_TOKENS} 1\n", "bad_tokens", 2, "PredictionString", None),
        (KAGGLE + f"i1,{PAIR_TOKENS} {UNKNOWN_TOKENS}\n", "unknown_label", 2, "PredictionString", 24),
        (KAGGLE + f"i1,{PAIR_TOKENS.replace('0.4', 'x', 1)}\n", "not_a_number", 2, "PredictionString", 8),
        (PAIRS.replace("Score", "Conf") + "\n", "bad_header", 1, "Score", None),
    ],
)
def test_defects_of_relationship_files_are_reported(
    tmp_path: Path, content: str, code: str, line: int, column: str, token: int | None
) -> None:
    first = checked(tmp_path, content, track=RELATIONSHIPS).errors[0]
    assert (first.code, first.line, first.column, first.token) == (code, line, column, token)


@pytest.mark.parametrize("text", ["1.0", "01", "+1", "1 "])
def test_image_ids_are_compared_as_text(tmp_path: Path, text: str) -> None:
    truth = truth_of(tmp_path, DETECTION)
    (truth / "images.csv").write_text("ImageID\n1\ni1\n")
    path = tmp_path / "submission.csv"
    path.write_text(LONG + GOOD.replace("i1", text))
    assert check(DETECTION, path, truth=truth).errors[0].code == "unknown_image"


def test_reading_stops_at_a_line_over_the_limit(tmp_path: Path) -> None:
    findings = checked(tmp_path, LONG + GOOD + "x" * 3000 + "\ny\n", resources=Resources(Limits(line_bytes=1000)))
    assert [(p.code, p.line) for p in findings.errors] == [("line_too_long", 3)]


def test_a_very_long_line_is_not_read_to_its_end(tmp_path: Path) -> None:
    findings = checked(tmp_path, LONG.encode() + b"x" * 5_000_000, resources=Resources(Limits(line_bytes=1_500_000)))
    assert [(p.code, p.line) for p in findings.errors] == [("line_too_long", 2)]


def test_reading_stops_after_the_maximum_number_of_boxes(tmp_path: Path) -> None:
    findings = checked(tmp_path, LONG + GOOD * 5 + "rubbish\n", resources=Resources(limits=Limits(boxes=3)))
    assert [(p.code, p.line) for p in findings.errors] == [("too_many_rows", 5)]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(KAGGLE + "i1,\ni2,\ni3,\nrubbish\n", id="strings"),
        pytest.param(LONG + "".join(GOOD.replace("i1", image) for image in ("i1", "i2", "i3", "rubbish")), id="long"),
    ],
)
def test_reading_stops_after_the_maximum_number_of_images(tmp_path: Path, rows: str) -> None:
    findings = checked(tmp_path, rows, resources=Resources(limits=Limits(images=2)))
    assert [(p.code, p.line) for p in findings.errors] == [("too_many_rows", 4)]


def test_defects_are_counted_and_the_first_twenty_of_each_code_shown(tmp_path: Path) -> None:
    rows = "".join(f"i1,/m/x{n},nan,0.1,0.5,0.1,0.5\n" for n in range(70))
    findings = checked(tmp_path, LONG + rows)
    assert findings.counts == {"not_finite": 70, "unknown_label": 70}
    assert findings.total == 140
    assert [p.line for p in findings.errors if p.code == "not_finite"] == list(range(2, 22))


def test_defects_are_reported_in_file_order(tmp_path: Path) -> None:
    findings = checked(tmp_path, long(Score="nan") + GOOD.replace("/m/cat", "/m/x") + GOOD.replace("0.9", "NA"))
    assert [(p.line, p.code) for p in findings.errors] == [(3, "not_finite"), (4, "unknown_label"), (5, "not_a_number")]


def test_without_a_truth_only_the_file_format_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    path.write_text(long(ImageID="anything", LabelName="at all", Score="x"))
    assert [p.code for p in check(DETECTION, path).errors] == ["not_a_number"]


def test_every_image_must_have_a_row_if_the_phase_requires_it(tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    path.write_text(KAGGLE + f"i1,{TOKENS}\ni3,\n")
    findings = check(DETECTION, path, truth=truth_of(tmp_path, DETECTION), parameters={"require_all_images": True})
    assert [(p.code, p.image) for p in findings.errors] == [("missing_image", "i2")]


def test_an_unknown_image_is_a_defect_or_a_notice_never_both(tmp_path: Path) -> None:
    findings = checked(tmp_path, long(ImageID="i9"))
    assert (findings.total, findings.notices) == (1, [])
    (tmp_path / "truth" / "images.csv").unlink()
    again = check(DETECTION, tmp_path / "submission.csv", truth=tmp_path / "truth")
    assert (again.total, [(n.code, n.count) for n in again.notices]) == (0, [("unknown_image", 1)])


def test_a_message_shortens_what_it_quotes_from_the_file(tmp_path: Path) -> None:
    (problem,) = checked(tmp_path, long(LabelName="y" * 250)).errors
    assert "…" in problem.message
    assert len(problem.message) < 200
