"""The work to score a file is almost independent of any single annotation in the ground truth.

Otherwise, the CPU time would reveal secret annotations.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from evaluator import bootstrap, scoring
from evaluator.catalog import TRACKS
from evaluator.kernels import CROWD
from evaluator.kernels.curves import bootstrap as kernels
from evaluator.kernels.curves import variants as coded
from evaluator.metrics import average_precision
from evaluator.metrics.bootstrap import Numbers, Weights
from evaluator.metrics.resampling import CurveSteps
from evaluator.report import ReferenceNeeded
from evaluator.request import Bootstrap, ReportOptions, Resources, ScoringRequest
from evaluator.tracks.relationships.explain import errors
from evaluator.tracks.shared.curves import buckets
from evaluator.tracks.shared.curves.variants import CodedCurves
from tests.evaluator.kernels import cases, private_facts

# The presence or absence of dogs is verified in all images of OTHERS, but not in the image of NO_DOG.
OTHERS = [f"other{number}" for number in range(20)]
NO_DOG = {"openimages-detection": "one", "openimages-relationships": "three"}
# Number of submission rows for each image and class (or pair of classes).
ROWS = 1_000
Work = Counter[str]
BOXES = ("0,0.5,0,0.5", "0.5,1,0,1", "0,1,0,1", "0.25,0.5,0,0.25")
HEADERS = {
    "openimages-detection": "ImageID,LabelName,Score,XMin,XMax,YMin,YMax",
    "openimages-relationships": ",".join(
        [*cases.PAIR[:5], *(f"{edge}{n}" for n in (1, 2) for edge in ("XMin", "XMax", "YMin", "YMax"))]
    ),
    "openimages-classification": "ImageID,LabelName,Score",
}


def crowds(track: str, images: Sequence[str] = private_facts.IMAGES) -> Iterator[str]:
    """Yield ``ROWS`` random submission rows for each of the given images and each class (or pair of classes)."""
    chance = random.Random(track)
    for _, image, label in product(range(ROWS), images, private_facts.LABELS):
        score, box = f"0.{chance.randrange(1, 10)}", chance.choice(BOXES)
        if track != "openimages-relationships":
            yield f"{image},{label},{score},{box}" if track in NO_DOG else f"{image},{label},{score}"
        else:
            for other, relation in product(private_facts.LABELS, ["on"]):
                yield f"{image},{label},{other},{relation},{score},{box},{chance.choice(BOXES)}"


def blocks(track: str, last: str) -> list[str]:
    """Return the rows of a submission with one crowded image. The other images are one row short of being crowded.

    An image is crowded if it has more than ``CROWD`` predictions. The crowded image has no verified label (present or
    absent) for the first class (or pair of classes). The last row of this image has a different class and the
    coordinates ``last``.
    """
    detection = track == "openimages-detection"
    first, other = ("dog", "owl") if detection else ("dog,dog,on", "owl,owl,at")
    rest = "" if detection else f",{BOXES[0]}"
    rows = [
        f"{image},{first},0.{row % 9 + 1},{BOXES[0]}{rest}"
        for image in [NO_DOG[track], *OTHERS]
        for row in range(CROWD)
    ]
    return [*rows, f"{NO_DOG[track]},{other},0.5,{last}{rest}"]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    """Return a counter of the work: processed entries of precision-recall curves, and array sizes in the bootstrap."""
    found: Work = Counter()

    class Engine:
        sums = staticmethod(kernels.sums)

        @staticmethod
        def average_precisions(weights: Weights, steps: CurveSteps, positives: Numbers, partial: float) -> Numbers:
            found.update(calls=1, rows=len(steps.rows), steps=len(steps.ends))
            return kernels.average_precisions(weights, steps, positives, partial)

    def counted(function: Callable[..., Any], entries: Callable[..., int]) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            found.update(entries=entries(*values))
            return function(*values)

        return call

    def in_buckets(keys: object, ends: Any, first: int, stop: int, *rest: Any) -> int:
        _, public, private, *_ = rest
        return int(np.diff(ends).reshape(-1, 2)[first:stop, [public, private]].sum())

    def in_curve(confidences: Numbers, *rest: object) -> int:
        return len(confidences)

    monkeypatch.setattr(bootstrap, "engine", Engine)
    monkeypatch.setattr(buckets, "average_precisions", counted(buckets.average_precisions, in_buckets))
    precision_recall = counted(average_precision.precision_recall, in_curve)
    monkeypatch.setattr(average_precision, "precision_recall", precision_recall)
    monkeypatch.setattr(CodedCurves, "areas", counted(CodedCurves.areas, lambda curves, *_: len(curves.keys)))
    return found


def submission_of(track: str, rows: Iterable[str], by: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a submission, and return its path. If ``by`` is "reference", disable the fast path (the kernels)."""
    scoring.load_kernels()
    if by == "reference":
        monkeypatch.setattr(scoring, "score_by_fast_path", lambda *_: ReferenceNeeded.SMALL_FILE)
    submission = folder / "submission.csv"
    submission.write_text("\n".join([HEADERS[track], *rows]) + "\n")
    return submission


def work_of(
    work: Work,
    track: str,
    truth: Path,
    submission: Path,
    by: str,
    threads: int = 1,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Work:
    """Score a submission with bootstrap replicates, and return the counts of :func:`work` for this run."""
    work.clear()
    options, resources = ReportOptions(bootstrap=Bootstrap(1)), Resources(threads=threads)
    request = ScoringRequest(track, truth, submission, parameters, report=options, resources=resources)
    assert scoring.score(request).way.startswith(by)
    return Counter(work)


TRACK_PARAMETERS: list[tuple[str, str, dict[str, Any]]] = [
    *((track, way, {}) for track, ways in private_facts.LISTED_BY.items() for way in ways),
    ("openimages-detection", "hierarchy", {"group_of_weight": 0.3}),
    ("openimages-detection", "hierarchy", {"expand_predictions": True}),
    ("openimages-detection", "hierarchy", {"protocol": "fiftyone"}),
]
FILES = {"crowds in all images": (private_facts.IMAGES, 1), "a crowd in one image, 2 threads": (["one"], 2)}


@pytest.mark.parametrize("by", ["fast path", "reference"])
@pytest.mark.parametrize(("images", "threads"), FILES.values(), ids=FILES)
@pytest.mark.parametrize(("track", "listed_by", "parameters"), TRACK_PARAMETERS)
def test_one_fact_hardly_changes_the_number_of_summed_entries(
    track: str,
    listed_by: str,
    parameters: dict[str, Any],
    images: list[str],
    threads: int,
    by: str,
    work: Work,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submission = submission_of(track, crowds(track, images), by, tmp_path, monkeypatch)
    done: dict[str, Work] = {}
    for truth in private_facts.neighbours(track, listed_by, tmp_path / "truths"):
        # The ground truth "a public image" has no private images and therefore fewer splits. The number of splits is
        # public, so the work may differ.
        if truth.name == "a public image":
            continue
        done[truth.name] = work_of(work, track, truth, submission, by, threads, parameters)
    expected = done.pop("as it is")
    dropped = CROWD if by == "fast path" else len(BOXES)
    if "expand_predictions" in parameters:
        dropped *= 2  # Each dog also counts as a cat.
    # Each entry counts in two of the three splits, so it is read twice. If a group-of weight is set, each entry is
    # read for all three splits.
    splits = 3 if "group_of_weight" in parameters else 2
    most = Counter(calls=0, rows=dropped * expected["calls"], entries=splits * dropped * TRACK_CURVES[track])
    most["steps"] = 40 * expected["calls"]
    assert {
        (fact, kind): (found[kind], expected[kind])
        for fact, found in done.items()
        for kind in most
        if abs(found[kind] - expected[kind]) > most[kind]
    } == {}


@pytest.mark.parametrize("by", ["fast path", "reference"])
@pytest.mark.parametrize("last", [BOXES[0], "0.5,0,0,0.5"], ids=["last", "last without area"])
@pytest.mark.parametrize("track", NO_DOG)
def test_dropped_predictions_of_a_crowded_image_do_not_change_the_sums_of_other_images(
    track: str, last: str, by: str, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, line in [("images.csv", "{}"), ("usage.csv", "{},Public"), ("image_labels.csv", "{},dog,1")]:
        lines = [*private_facts.SHARED[name], *map(line.format, OTHERS)]
        monkeypatch.setitem(private_facts.SHARED, name, lines)
    submission = submission_of(track, blocks(track, last), by, tmp_path, monkeypatch)
    fact = private_facts.row("image_labels.csv", None, f"{NO_DOG[track]},dog,1")
    truths = (
        private_facts.written(track, "open", tmp_path / "one"),
        private_facts.written(track, "open", tmp_path / "another", fact),
    )
    one, another = (work_of(work, track, truth, submission, by) for truth in truths)
    assert one["entries"] > len(OTHERS) * CROWD
    assert abs(one["rows"] - another["rows"]) <= CROWD * one["calls"]
    assert abs(one["entries"] - another["entries"]) <= 2 * CROWD * TRACK_CURVES[track]


@pytest.mark.parametrize("by", ["fast path", "reference"])
@pytest.mark.parametrize("fact", ["no group", "a box", "absent"])
def test_one_of_many_groups_that_absorb_a_crowd_changes_a_few_entries(
    fact: str, by: str, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ground truth has 600 group boxes (around several objects), each matched by an equal prediction.

    All of these boxes are in one image, which also has a crowd of false positives of owls. In the second ground truth,
    the largest group box is missing or is an ordinary object, or dogs are verified as absent from the image.
    """
    track, edges = "openimages-detection", [f"0,{size / 1000},0,1" for size in range(2, 602)]
    groups = [f"one,cat,{edge},1" for edge in edges]
    monkeypatch.setitem(private_facts.OBJECTS, track, {"boxes.csv": [*private_facts.BOXES, *groups]})
    change = {
        "no group": private_facts.row("boxes.csv", groups[-1], None),
        "a box": private_facts.row("boxes.csv", groups[-1], groups[-1][:-1] + "0"),
        "absent": private_facts.row("image_labels.csv", None, "one,dog,0"),
    }[fact]
    rows = [f"one,owl,0.5,{edges[0]}"] * CROWD + [f"one,cat,0.{size % 9 + 1},{edge}" for size, edge in enumerate(edges)]
    submission = submission_of(track, rows, by, tmp_path, monkeypatch)
    truths = [
        private_facts.written(track, "open", tmp_path / name, of) for name, of in (("one", None), ("two", change))
    ]
    one, another = (work_of(work, track, truth, submission, by) for truth in truths)
    assert one["rows"] >= 2 * len(edges)
    assert abs(one["rows"] - another["rows"]) <= 2 * one["calls"]
    assert abs(one["entries"] - another["entries"]) <= 4


def test_the_number_of_pairs_that_an_explanation_compares_does_not_depend_on_verified_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    track = "openimages-relationships"
    compared: list[int] = []
    original = errors.triplet_overlap

    def counted(*values: Any) -> Numbers:
        compared[-1] += len(values[-1])
        return original(*values)

    monkeypatch.setattr(errors, "triplet_overlap", counted)
    submission = submission_of(track, list(crowds(track))[:5_000], "reference", tmp_path, monkeypatch)
    for name in (None, "a label verified as present", "a label verified as absent", "a label no longer verified"):
        compared.append(0)
        fact = private_facts.FACTS[track][name] if name else None
        truth = private_facts.written(track, "relations", tmp_path / f"truth {name}", fact)
        scoring.score(ScoringRequest(track, truth, submission, report=ReportOptions(explanation=True)))
    assert compared[0] >= 5_000
    assert set(compared) == {compared[0]}


@pytest.mark.parametrize(
    ("track", "listed_by", "parameters"),
    [
        *((track, way, {}) for track in NO_DOG for way in private_facts.LISTED_BY[track]),
        ("openimages-detection", "hierarchy", {"protocol": "fiftyone"}),
    ],
)
def test_one_fact_changes_the_number_of_entries_of_an_explanation_by_a_few(
    track: str, listed_by: str, parameters: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every prediction has an entry. Further entries are for group boxes, and for errors assumed to be fixed."""
    entries: list[int] = []
    original = coded.scatter_codes

    def counted(confidences: Numbers, *rest: Any) -> None:
        entries[-1] += len(confidences)
        original(confidences, *rest)

    monkeypatch.setattr(coded, "scatter_codes", counted)
    submission = submission_of(track, crowds(track), "fast path", tmp_path, monkeypatch)
    for truth in private_facts.neighbours(track, listed_by, tmp_path / "truths"):
        entries.append(0)
        request = ScoringRequest(track, truth, submission, parameters, report=ReportOptions(explanation=True))
        report = scoring.score(request)
        assert report.way == "fast path"
    assert entries[0] >= ROWS * len(private_facts.IMAGES) * len(private_facts.LABELS)
    assert max(entries) - min(entries) <= 4


TRACK_CURVES = {"openimages-detection": 1, "openimages-relationships": 4, "openimages-classification": 1}
"""Number of precision-recall curves to which a scored prediction belongs, for each track.

A predicted relationship is in the curve of its relation and in that of all relations. Both curves exist for
relationships and for phrases.
"""


def test_all_tracks_with_a_fast_path_are_compared() -> None:
    assert set(HEADERS) == {name for name, track in TRACKS.items() if track.modules.fast_path}
