"""Generates a damaged file from a seed, and scores it with compiled kernels and the reference implementation."""

import gzip
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from evaluator.catalog import Limits
from evaluator.files import blocks, lines
from evaluator.request import ReportOptions, Resources
from evaluator.scoring import check, prepare
from evaluator.tracks.classification.fast.reader import ClassificationReader
from evaluator.tracks.detection.fast.collecting_reader import CollectingReader
from evaluator.tracks.detection.fast.reader import DetectionReader
from evaluator.tracks.relationships.fast.reader import RelationshipReader
from evaluator.tracks.shared import fast as fast_path
from tests.evaluator.kernels import cases
from tests.fuzz import mutations
from tests.fuzz.guarded import BEYOND_BYTES, guarded

TRUTHS = 60  # Number of ground truths that are generated for each track.
KEPT = Path("build/fuzz")
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "openimages-detection": [
        {},
        {},
        {},
        {"group_of_weight": 0.0},
        {"group_of_weight": 0.3},
        {"iou_threshold": 0.3},
        {"expand_predictions": True},
        {"expand_predictions": True, "group_of_weight": 0.3},
        {"require_all_images": True},
        {"protocol": "fiftyone"},
        {"protocol": "fiftyone", "expand_predictions": True},
    ],
    "openimages-classification": [{}],
    "openimages-relationships": [{}, {}, {"iou_threshold": 0.3}, {"weights": (0.2, 0.3, 0.5)}],
}


@dataclass(frozen=True, slots=True)
class Case:
    """A damaged file, and all settings that can affect how it is scored.

    Attributes
    ----------
    borders : (int, int, int)
        Three sizes in bytes: of a block in the fast path, of the part at the end of a block that is searched for blank
        lines, and of a batch in the reference implementation.
    reference_bytes : int
        The batch size when the file is scored again with only the reference implementation. The result must not
        depend on any of these sizes.
    """

    seed: int
    track: str
    truth: int
    content: bytes
    parameters: dict[str, Any]
    limits: Limits
    threads: int
    borders: tuple[int, int, int]
    reference_bytes: int
    report: ReportOptions


def drawn(seed: int) -> Case:
    chance = random.Random(seed)
    track = chance.choice(list(PARAMETERS))
    plain = cases.FILES[track](chance)
    if plain.startswith(lines.GZIP_MAGIC):
        plain = gzip.decompress(plain)
    plain = content = mutations.mutated(chance, plain)
    if chance.random() < 0.1:
        content = mutations.zipped(chance, plain)
    elif chance.random() < 0.01:
        content = mutations.bomb(chance, plain)
    small = len(plain.partition(b"\n")[0]) + 2 + chance.choice([0, 1, 10, 50, 300])
    size = chance.choice([small, small, 4096, lines.CHUNK_BYTES])
    batch, reference_batch = chance.choices([64, 1000, lines.CHUNK_BYTES], [1, 5, 10], k=2)
    return Case(
        seed,
        track,
        chance.randrange(TRUTHS),
        content,
        chance.choice(PARAMETERS[track]),
        limits(chance, plain, size),
        chance.choice([1, 1, 2, 3]),
        (size, chance.choice([1, 10, blocks.LOOK_BACK_BYTES]), batch),
        # The readable part of a damaged gzip file depends on the batch size, so the fast path and the reference
        # implementation use the same batch size for gzip files.
        batch if content.startswith(lines.GZIP_MAGIC) else reference_batch,
        chance.choice([ReportOptions(), ReportOptions(explanation=True, curves=True)]),
    )


def limits(chance: random.Random, plain: bytes, size: int) -> Limits:
    """Return random limits: usually the defaults, sometimes so low that a small file reaches or exceeds them."""
    if chance.random() < 0.9:
        return Limits()
    return Limits(
        decompressed_bytes=chance.choice([100, 1_000, 10_000]),
        decompressed_ratio=chance.choice([2, 5, 200]),
        line_bytes=chance.choice([60, 200, 1_000, 5_000, 2 * size, 3 * size]),
        boxes=max(chance.choice([plain.count(b"\n"), plain.count(b" ") // 6, 1_000]) + chance.randint(-3, 3), 0),
        images=chance.choice([0, 1, 2, 3, 4, 5, 1_000]),
        number_characters=chance.choice([64, 64, 64, 10]),
    )


@cache
def folder() -> TemporaryDirectory[str]:
    """Return the temporary folder of this process, for ground truths and for the file that is scored."""
    return TemporaryDirectory(prefix="podium-fuzz-")


@cache
def truth(track: str, number: int) -> Path:
    """Generate a random ground truth for a track, with ``number`` as the seed, and return its prepared file."""
    path = Path(folder().name) / f"{track}-{number}"
    prepare(track, cases.TRUTHS[track](random.Random(number), path), path.with_suffix(".podium"))
    return path.with_suffix(".podium")


@contextmanager
def borders(block: int, look_back: int, batch: int) -> Iterator[None]:
    """Inside the ``with`` statement, read files in blocks of the given sizes; see ``borders`` of :class:`Case`."""
    usual = lines.CHUNK_BYTES, blocks.LOOK_BACK_BYTES, lines.RATIO_COUNTS_FROM_BYTES
    blocks.CHUNK_BYTES = fast_path.CHUNK_BYTES = block
    lines.CHUNK_BYTES, blocks.LOOK_BACK_BYTES, lines.RATIO_COUNTS_FROM_BYTES = batch, look_back, 1_000
    try:
        yield
    finally:
        blocks.CHUNK_BYTES = fast_path.CHUNK_BYTES = usual[0]
        lines.CHUNK_BYTES, blocks.LOOK_BACK_BYTES, lines.RATIO_COUNTS_FROM_BYTES = usual


@contextmanager
def guarded_blocks() -> Iterator[None]:
    """Before kernels read a block, copy the block to memory that is followed by a guard page.

    With NUMBA_BOUNDSCHECK=1, an access beyond the array raises an exception before it can reach the guard page.
    """

    def over(read: Callable[..., None]) -> Callable[..., None]:
        return lambda self, data, stop, position: read(self, guarded(data[: stop + BEYOND_BYTES]), stop, position)

    with (
        patch.object(DetectionReader, "read", over(DetectionReader.read)),
        patch.object(CollectingReader, "read", over(CollectingReader.read)),
        patch.object(RelationshipReader, "read", over(RelationshipReader.read)),
        patch.object(ClassificationReader, "read", over(ClassificationReader.read)),
    ):
        yield


def both(case: Case) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Score a file as usual, with the fast path if possible, and again with the reference implementation.

    Return the name of the implementation that is normally used, and both results. The caller compares the results.

    Every third file is also checked without being scored. If the findings of this check differ from those of the
    reference implementation, they are returned instead of the first result, so that the comparison fails.
    """
    path = Path(folder().name) / "submission"
    path.write_bytes(case.content)
    words = case.track, truth(case.track, case.truth), path
    alone, threaded = (Resources(case.limits, threads) for threads in (1, case.threads))
    with guarded_blocks(), borders(*case.borders):
        way, fast = cases.answer(*words, parameters=case.parameters, resources=threaded, report=case.report)
        checked = fast if case.seed % 3 else checked_alone(case, words[1], path)
    with borders(*case.borders[:2], case.reference_bytes), cases.reference_implementation():
        reference = cases.answer(*words, parameters=case.parameters, resources=alone, report=case.report)[1]
    if checked["notices"] != reference["notices"] or checked.get("errors", []) != reference.get("errors", []):
        return way, checked, reference
    return way, fast, reference


def checked_alone(case: Case, truth: Path, path: Path) -> dict[str, Any]:
    """Run the function `check` on a submission, on one thread, and return its findings as a dictionary."""
    resources = Resources(case.limits)
    found = check(case.track, path, truth=truth, parameters=case.parameters, resources=resources)
    return found.for_organizer().as_dict()


def answers(seed: int) -> tuple[Counter[str], list[str]]:
    """Score the file generated from a seed with both implementations. Return counts by result, and any difference."""
    case = drawn(seed)
    try:
        way, fast, reference = both(case)
    except Exception:
        keep(case)
        raise
    counts = Counter([f"{case.track}: {way.partition(':')[0]}", *fast.get("counts", {})])
    if dumps(fast, sort_keys=True) == dumps(reference, sort_keys=True):
        return counts, []
    return counts, [f"file of seed {seed} ({way}) is kept in {keep(case)}:\n  {fast}\nis not\n  {reference}"]


def keep(case: Case) -> Path:
    """Save a failing case and its settings to a folder, and return the path of the file."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{case.seed}.csv"
    path.write_bytes(case.content)
    settings = {name: value for name, value in asdict(case).items() if name != "content"}
    path.with_suffix(".txt").write_text(f"{settings}\n")
    return path
