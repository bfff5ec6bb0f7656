"""Reads a submission for the fast path (scoring with compiled kernels) of any track, on several threads.

Each thread reads blocks of lines. If the fast path cannot score a submission,
:class:`~evaluator.files.blocks.Declined` is raised. The tracks catch this exception and return the reason that it
contains.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Limits, Track
from evaluator.files.blocks import Blocks, Declined, new_buffer
from evaluator.files.lines import CHUNK_BYTES
from evaluator.files.notices import (
    notice_nothing_to_score,
    notice_oddities,
    notice_unknown_images,
    notice_unknown_labels,
)
from evaluator.files.rows import RowReader
from evaluator.kernels.reading import (
    BEYOND,
    INVERTED,
    OUTSIDE,
    UNKNOWN_IMAGES,
    UNKNOWN_LABELS,
    USELESS,
)
from evaluator.kernels.text.decimals import CHARACTERS
from evaluator.kernels.text.lookup import MAX_CHARACTERS
from evaluator.problems import ChangedSubmission, Findings, Stop
from evaluator.report import ReferenceNeeded
from evaluator.request import Progress, Resources
from evaluator.threads import call_all
from evaluator.tracks.shared.label_truth import LabelTruth

Bytes = NDArray[np.uint8]


class KernelState(Protocol):
    """The arrays that the compiled kernels of every track update while they read a submission."""

    @property
    def named(self) -> NDArray[np.uint8]:
        """For each image of the ground truth, 1 if the submission has a row for it, otherwise 0; shape (images,)."""

    @property
    def image_predictions(self) -> NDArray[np.int32]:
        """The number of predictions for each image of the ground truth, shape (images,)."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """The counters of the compiled kernels; :mod:`evaluator.kernels.reading` defines the index of each counter."""


class Reader(Protocol):
    """The interface of a reader, which processes blocks of a submission in one thread.

    Attributes
    ----------
    unknown_image_hashes : list of uint64 arrays
        Hashes of image ids that are not in the ground truth. Collected only in the Kaggle layout (one row per image).
    """

    unknown_image_hashes: list[NDArray[np.uint64]]

    @property
    def state(self) -> KernelState:
        """The arrays that the compiled kernels of the reader update while they read a file."""

    @property
    def predictions(self) -> int:
        """The number of predictions that were read."""

    @property
    def images(self) -> int:
        """The number of images read so far. With one row per prediction, it is an upper bound.

        In that case, an image that is not in the ground truth is counted once for each of its rows.
        """

    def read(self, data: Bytes, stop: int, position: int) -> None:
        """Read the lines before the offset ``stop``, and match their predictions.

        ``data`` is a block of complete lines, and ``position`` is the number of the block in the file, counted from 1.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """


ReaderType = TypeVar("ReaderType", bound=Reader)


@dataclass(slots=True)
class FileHeader:
    """The file layout and the columns of a submission.

    Attributes
    ----------
    kaggle : bool
        Whether the file has one line per image, with a prediction string.
    positions : list of int
        For each column that the track declares, its index among the columns of the file.
    """

    kaggle: bool
    positions: list[int] = field(default_factory=list)


def header_of(header: str, track: Track) -> FileHeader:
    """Return the file layout and the columns declared by the first line of a submission.

    Raises
    ------
    Declined
        If the header has a defect, or if the prediction string precedes the image id.
    """
    reader = RowReader(track.form, Limits(), Findings())
    try:
        reader.read_header(1, header)
    except Stop:
        raise Declined(ReferenceNeeded.DEFECTIVE_HEADER) from None
    if reader.kaggle and reader.positions != sorted(reader.positions):
        raise Declined(ReferenceNeeded.STRING_BEFORE_IMAGE)
    return FileHeader(reader.kaggle, reader.positions)


def read_all(
    submission: Path, resources: Resources, track: Track, readers: Callable[[FileHeader], Sequence[ReaderType]]
) -> Sequence[ReaderType]:
    """Read a whole file with one reader for each thread, and return the readers.

    Parameters
    ----------
    submission : Path
    resources : Resources
    track : Track
    readers : callable
        A function that takes the header of the file and returns a reader for each thread.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    limits = resources.limits
    if (limits.number_characters, limits.text_characters) != (CHARACTERS, MAX_CHARACTERS):
        raise Declined(ReferenceNeeded.OTHER_LIMITS)
    # ``Blocks`` checks the length of the first line of each block, but not of the other lines. If the limit were lower
    # than the size of a block, another line could exceed it unnoticed. The reference implementation checks every line.
    if limits.line_bytes < 2 * CHUNK_BYTES:
        raise Declined(ReferenceNeeded.OTHER_LIMITS)
    with Blocks(submission, limits) as blocks:
        all_readers = readers(header_of(blocks.header(), track))
        first, *others = (partial(_drain, blocks, all_readers, reader, limits) for reader in all_readers)
        call_all([partial(first, progress=resources.progress), *others], len(all_readers))
    resources.progress("checking", 1.0)
    return all_readers


@dataclass(frozen=True, slots=True)
class FileVersion:
    """The state of a file when it was read, used to detect later changes of the file.

    Attributes
    ----------
    path : Path
    state : tuple of three int
        The inode, the size, and the time of the last change.
    """

    path: Path
    state: tuple[int, int, int]

    @classmethod
    def of(cls, path: Path) -> "FileVersion":
        """Return the current version of a file."""
        found = path.stat()
        return cls(path, (found.st_ino, found.st_size, found.st_mtime_ns))


def read_again(version: FileVersion, resources: Resources) -> Iterator[tuple[bytearray, int, int]]:
    """Read a file again, and yield its blocks. Each block has the same lines and the same number as the first time.

    A block is a tuple of a buffer, the offset of the end of its lines, and its number. The buffer is reused for the
    next block, so no array may refer to it when the next block is requested.

    Raises
    ------
    ChangedSubmission
        If the file has changed since it was read.
    """
    buffer = new_buffer()
    with Blocks(version.path, resources.limits) as blocks:
        if FileVersion.of(version.path) != version:
            raise ChangedSubmission
        blocks.header()
        while block := blocks.take(buffer):
            position, stop = block
            resources.progress("writing", blocks.fraction)
            yield buffer, stop, position
    if FileVersion.of(version.path) != version:
        raise ChangedSubmission


def predictions_of_images(readers: Sequence[Reader]) -> NDArray[np.int64]:
    """Return the number of predictions for each image, summed over all threads, shape (images,)."""
    first, *others = (reader.state.image_predictions for reader in readers)
    total = first.astype(np.int64)
    for other in others:
        total += other
    return total


def require_one_row_per_image(readers: Sequence[Reader]) -> None:
    """Raise an exception if an image is repeated in a file in the Kaggle layout, which has one row for each image.

    Raises
    ------
    Declined
        If an image has more than one row. The reference implementation then reports the defect.
    """
    named = [reader.state.named for reader in readers]
    is_repeated = np.count_nonzero(np.any(named, axis=0)) < sum(map(np.count_nonzero, named))
    parts = [part for reader in readers for part in reader.unknown_image_hashes]
    hashes = np.concatenate([np.empty(0, np.uint64), *parts])
    if is_repeated or len(np.unique(hashes)) < len(hashes):
        raise Declined(ReferenceNeeded.REPEATED_IMAGE)


def add_notices(truth: LabelTruth, readers: Sequence[Reader], findings: Findings) -> list[int]:
    """Add the notices that the tracks with boxes share to ``findings``. Return the kernels' counters.

    The counters are summed over all threads.
    """
    counts, predictions = add_notices_of_predictions(truth, readers, findings)
    notice_nothing_to_score(findings, predictions, predictions - counts[USELESS])
    return counts


def add_notices_of_predictions(
    truth: LabelTruth, readers: Sequence[Reader], findings: Findings
) -> tuple[list[int], int]:
    """Add notices about unknown ids and unusual numbers to ``findings``.

    Return the kernels' counters, summed over all threads, and the number of predictions for images in the ground truth.
    """
    counts: list[int] = np.sum([reader.state.counts for reader in readers], axis=0).tolist()
    if not truth.images_listed:
        notice_unknown_images(findings, counts[UNKNOWN_IMAGES])
    predictions = int(predictions_of_images(readers).sum())
    odd = {"inverted": counts[INVERTED], "outside": counts[OUTSIDE], "beyond": counts[BEYOND]}
    notice_oddities(findings, predictions, **odd)
    notice_unknown_labels(findings, counts[UNKNOWN_LABELS], listed=truth.public_labels[1])
    return counts, predictions


def _drain(
    blocks: Blocks, all_readers: Sequence[Reader], reader: Reader, limits: Limits, *, progress: Progress | None = None
) -> None:
    """Read blocks with a reader until the file ends. After an exception, close the file, which stops all readers."""
    buffer = new_buffer()
    try:
        while block := blocks.take(buffer):
            position, stop = block
            reader.read(np.frombuffer(buffer, np.uint8), stop, position)
            if sum(each.predictions for each in all_readers) > limits.boxes:
                raise Declined(ReferenceNeeded.TOO_MANY_PREDICTIONS)
            if sum(each.images for each in all_readers) > limits.images:
                raise Declined(ReferenceNeeded.TOO_MANY_IMAGES)
            if progress:
                progress("checking", blocks.fraction)
    except BaseException:
        blocks.close()
        raise
