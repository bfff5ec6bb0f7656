"""If a fast path cannot score a file, it returns the reason instead of raising an exception."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import Limits
from evaluator.problems import Findings, InvalidSubmission
from evaluator.report import ReferenceNeeded
from evaluator.request import ReportOptions, Resources, ScoringRequest
from evaluator.scoring import score
from evaluator.tracks import fast_path_of, scorer_of
from evaluator.tracks.compiling import open_truth
from evaluator.tracks.interface import Outcome
from tests.evaluator.kernels import cases  # Importing `cases` loads the compiled kernels, which fast paths need.

assert cases.IMAGES
HEADER = "ImageId,PredictionString"
LONG_HEADER = "ImageID,LabelName,Score,XMin,YMin,XMax,YMax"
NOTHING_MORE = ReportOptions()
PREDICTIONS = {
    "openimages-detection": "/m/01yrx 0.5 0 0 0.5 0.5",
    "openimages-relationships": "0.5 /m/01yrx 0 0 0.5 0.5 /m/0bt9lr 0 0 0.5 0.5 at",
    "openimages-classification": "/m/01yrx 0.5",
}
FILES = {
    "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\nstreet,/m/01yrx,0,0.5,0,0.5,0\n",
    "relationships.csv": (
        "ImageID,LabelName1,LabelName2,RelationshipLabel,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2\n"
        "street,/m/01yrx,/m/0bt9lr,at,0,0.5,0,0.5,0,0.5,0,0.5\n"
    ),
    "image_labels.csv": "ImageID,LabelName,Confidence\nstreet,/m/01yrx,1\nkitchen,/m/01yrx,0\n",
}


def outcome(
    folder: Path,
    track: str,
    content: bytes,
    limits: Limits,
    report: ReportOptions = NOTHING_MORE,
    **parameters: Any,
) -> Outcome | ReferenceNeeded:
    """Return the result of the fast path of a track: an outcome, or the reason why it cannot score the file."""
    for file in scorer_of(track).track.truth_files:
        if file.name in FILES:
            (folder / file.name).write_text(FILES[file.name])
    scorer, submission = scorer_of(track), folder / "submission"
    submission.write_bytes(content)
    resolved = scorer.track.resolve(parameters)
    resources = Resources(limits, threads=2)
    request = ScoringRequest(track, folder, submission, resolved, report=report, resources=resources)
    truth, typed = open_truth(scorer, folder, resolved), scorer.parameters_of(resolved)
    return fast_path_of(scorer.track).score(truth, request, typed, Findings())


@pytest.mark.parametrize("track", PREDICTIONS)
@pytest.mark.parametrize(
    ("text", "limits", "reason"),
    [
        ("{header}\nstreet,{row}\n", {"number_characters": 10}, ReferenceNeeded.OTHER_LIMITS),
        ("{header}\nstreet,{row}\n", {"line_bytes": 100}, ReferenceNeeded.OTHER_LIMITS),
        ("ImageId,Strings\nstreet,{row}\n", {}, ReferenceNeeded.DEFECTIVE_HEADER),
        ("PredictionString,ImageId\n{row},street\n", {}, ReferenceNeeded.STRING_BEFORE_IMAGE),
        ("\udcff{header}\nstreet,{row}\n", {}, ReferenceNeeded.UNDECODABLE_HEADER),
        ('{header}\n"street",{row}\n', {}, ReferenceNeeded.NOT_PLAIN),
        ("{header}\nstreet,{row} {row}\n", {"boxes": 1}, ReferenceNeeded.TOO_MANY_PREDICTIONS),
        ("{header}\nstreet,{row}\nkitchen,{row}\n", {"images": 1}, ReferenceNeeded.TOO_MANY_IMAGES),
        ("{header}\nattic,{row}\nattic,{row}\n", {}, ReferenceNeeded.REPEATED_IMAGE),
    ],
    ids=lambda value: value.name if isinstance(value, ReferenceNeeded) else "",
)
def test_the_fast_path_returns_its_reason(
    track: str, text: str, limits: dict[str, int], reason: ReferenceNeeded, tmp_path: Path
) -> None:
    content = text.format(header=HEADER, row=PREDICTIONS[track])
    assert outcome(tmp_path, track, content.encode(errors="surrogateescape"), Limits(**limits)) is reason


def test_the_fast_path_of_relationships_reads_no_negative_confidences(tmp_path: Path) -> None:
    for track in PREDICTIONS:
        content = f"{HEADER}\nstreet,{PREDICTIONS[track].replace('0.5', '-0.5', 1)}\n"
        found = outcome(tmp_path, track, content.encode(), Limits())
        assert (found is ReferenceNeeded.NEGATIVE_CONFIDENCE) == (track == "openimages-relationships")


@pytest.mark.parametrize("track", PREDICTIONS)
def test_a_damaged_gzip_file_is_not_scored_and_a_plain_file_is(track: str, tmp_path: Path) -> None:
    content = f"{HEADER}\nstreet,{PREDICTIONS[track]}\n".encode()
    assert outcome(tmp_path, track, gzip.compress(content)[:-9], Limits()) is ReferenceNeeded.DAMAGED_GZIP
    assert isinstance(outcome(tmp_path, track, content, Limits()), Outcome)


@pytest.mark.parametrize("track", PREDICTIONS)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
def test_only_files_that_the_kernels_cannot_read_have_the_size_limit_of_the_reference(
    track: str, compressed: bool, tmp_path: Path
) -> None:
    plain, quoted = (f"{HEADER}\n{image},{PREDICTIONS[track]}\n".encode() for image in ("street", '"street"'))
    size = len(plain)
    if compressed:
        plain, quoted = gzip.compress(plain), gzip.compress(quoted)
    outcome(tmp_path, track, plain, Limits())
    request = ScoringRequest(
        track, tmp_path, tmp_path / "submission", report=ReportOptions(explanation=True, curves=True)
    )
    limited = replace(request, resources=Resources(reference_bytes=size - 1))
    assert score(limited) == score(request)
    (tmp_path / "submission").write_bytes(quoted)
    assert score(request).reference is ReferenceNeeded.NOT_PLAIN
    with pytest.raises(InvalidSubmission) as refused:
        score(limited)
    assert set(refused.value.findings.counts) == {"too_large"}


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"protocol": "fiftyone", "classwise": False}, ReferenceNeeded.ACROSS_CLASSES),
        ({"require_all_images": True}, ReferenceNeeded.MISSING_IMAGES),
    ],
)
def test_some_parameters_of_detection_need_the_reference_implementation(
    parameters: dict[str, Any], reason: ReferenceNeeded, tmp_path: Path
) -> None:
    content = f"{HEADER}\nstreet,{PREDICTIONS['openimages-detection']}\n".encode()
    assert outcome(tmp_path, "openimages-detection", content, Limits(), **parameters) is reason


@pytest.mark.parametrize("report", [ReportOptions(), ReportOptions(explanation=True)], ids=["scored", "explained"])
@pytest.mark.parametrize("predictions", [10_000, 10_001])
@pytest.mark.parametrize("header", [HEADER, LONG_HEADER], ids=["kaggle", "long"])
def test_fiftyones_rules_need_the_reference_implementation_for_overfull_images(
    header: str, predictions: int, report: ReportOptions, tmp_path: Path
) -> None:
    row = PREDICTIONS["openimages-detection"]
    rows = f"street,{' '.join([row] * predictions)}\n"
    if header == LONG_HEADER:
        rows = f"street,{row.replace(' ', ',')}\n" * predictions
    content = f"{header}\n{rows}".encode()
    found = outcome(tmp_path, "openimages-detection", content, Limits(), report, protocol="fiftyone")
    assert (found is ReferenceNeeded.OVERFULL_IMAGE) == (predictions > 10_000)
