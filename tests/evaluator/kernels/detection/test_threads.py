"""The results of the detection kernels do not depend on which thread reads which part of a file."""

import random
from collections.abc import Sequence
from pathlib import Path
from weakref import ref

import pytest

from evaluator.files import blocks
from evaluator.kernels.reading import ENTRIES
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import load_kernels, score
from evaluator.synthesis import synthesize
from evaluator.tracks.detection.fast import scoring
from evaluator.tracks.detection.fast.reader import DetectionReader
from evaluator.tracks.shared.curves.buckets import EntryBuckets, Segments
from tests.evaluator.kernels import cases, overfull

TRACK = "openimages-detection"
CAP = 10_000


@pytest.mark.parametrize("step", [1, -1], ids=["in order", "in reverse order"])
@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_entries_of_an_overfull_image_do_not_depend_on_the_thread_that_reads_it(
    shape: str, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result must be the same whether the first or the second of two threads reads the whole file.

    At most 10,000 predictions of a class in an image are kept. This cap includes predictions that are absorbed by a
    group box (around several objects), and predictions of a class that is not known to be present in or absent from the
    image.
    """
    truth, submission = tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir()
    (truth / "boxes.csv").write_text("ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,cat,0,1,0,1,1\n")
    (truth / "image_labels.csv").write_text("ImageID,LabelName,Confidence\nb,dog,1\n")
    rows = [["a", label, "0.5", "0", "0", "1", "1"] for label in ("cat", "dog") for _ in range(CAP + 500)]
    submission.write_text(overfull.file(random.Random(1), rows, shape))
    load_kernels()
    merge_threads, counts = scoring.merge_threads, []

    def counted(readers: Sequence[DetectionReader]) -> None:
        merge_threads(readers[::step])
        counts.append(sum(int(reader.state.counts[ENTRIES]) for reader in readers))

    monkeypatch.setattr(scoring, "merge_threads", counted)
    report = score(ScoringRequest(TRACK, truth, submission, resources=Resources(threads=2)))
    assert report.way == "fast path"
    # One entry of the precision-recall curves is the group-of box. The others are predictions, at most CAP for each
    # class.
    assert counts == [2 * CAP + 1]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("protocol", ["tfod", "fiftyone"])
def test_entries_that_have_been_copied_for_sorting_are_freed(
    protocol: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synthesize(TRACK, tmp_path, images=20, qualities=(0.5,))
    submission = tmp_path / "submissions" / "quality-0.50.csv"
    of, arrays, kept = EntryBuckets.of, [], []

    def noted(segments: Segments, *values: int) -> EntryBuckets:
        used = [array for part in segments for array in part if len(array)]
        arrays.extend(ref(array if array.base is None else array.base) for array in used)
        used.clear()
        buckets = of(segments, *values)
        kept.extend(array() is not None for array in arrays)
        return buckets

    monkeypatch.setattr(EntryBuckets, "of", noted)
    parameters, resources = {"protocol": protocol}, Resources(threads=threads)
    request = ScoringRequest(TRACK, tmp_path / "truth", submission, parameters=parameters, resources=resources)
    assert score(request).way.startswith("fast path")
    assert arrays
    assert not any(kept)


@pytest.mark.parametrize("images", [1, 2, 20])
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_each_thread_finishes_some_images_with_the_matches_of_all_threads(
    threads: int, images: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks are so short that the threads read the predictions of each image in turn."""
    synthesize(TRACK, tmp_path, images=images, qualities=(0.5,))
    finished: list[tuple[int, int]] = []
    finish = DetectionReader.finish

    def noted(reader: DetectionReader, others: Sequence[DetectionReader], first: int, stop: int) -> None:
        finish(reader, others, first, stop)
        finished.append((first, stop))

    monkeypatch.setattr(DetectionReader, "finish", noted)
    monkeypatch.setattr(blocks, "CHUNK_BYTES", 200)
    submission = tmp_path / "submissions" / "quality-0.50-long.csv"
    way, fast, reference = cases.both(TRACK, tmp_path / "truth", submission, resources=Resources(threads=threads))
    assert (way, fast) == ("fast path", reference)
    assert len(finished) == threads
    assert sorted(image for share in finished for image in range(*share)) == list(range(images))
