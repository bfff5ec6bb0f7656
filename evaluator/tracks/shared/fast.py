"""Large submissions the fast way: kernels take blocks of lines from the file, on as many cores as are given."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Limits, Track
from evaluator.files.blocks import Blocks, Unreadable
from evaluator.files.lines import CHUNK_BYTES
from evaluator.files.notices import notice_oddities, notice_unknown_images, notice_unknown_labels
from evaluator.files.rows import RowReader
from evaluator.kernels.reading import BEYOND_ONE, INVERTED, OUTSIDE, UNKNOWN_IMAGES, UNKNOWN_LABELS
from evaluator.kernels.text.decimals import CHARACTERS
from evaluator.kernels.text.lookup import MOST_CHARACTERS
from evaluator.problems import Findings, Stop
from evaluator.tracks.interface import Progress, ReadableWay, Streaming, listed_labels
from evaluator.truth import Truth

Bytes = NDArray[np.uint8]


class State(Protocol):
    """What every reading kernel leaves behind."""

    @property
    def named(self) -> NDArray[np.uint8]:
        """1 for each image of the truth that has been named, shape (images,)."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """What was counted, by the places that :mod:`evaluator.kernels.detection.state` names."""


class Reader(Protocol):
    """One thread's share of the work: what it has seen so far.

    ``strangers``: hashes of the images that the truth does not know, of rows of the Kaggle shape.
    """

    strangers: list[NDArray[np.uint64]]

    @property
    def state(self) -> State:
        """What its kernels have found."""

    @property
    def predictions(self) -> int:
        """How many predictions were read."""

    @property
    def images(self) -> int:
        """How many rows of images were read; in the long shape no fewer than the images that they name."""

    def read(self, data: Bytes, stop: int) -> None:
        """Take the lines before ``stop``.

        Raises
        ------
        ReadableWay
        """


@dataclass(slots=True)
class Heading:
    """What the first line tells.

    Attributes
    ----------
    kaggle : bool
    positions : list of int
        Where each column of the declaration stands in the file.
    """

    kaggle: bool
    positions: list[int] = field(default_factory=list)


def heading_of(header: str, track: Track) -> Heading:
    """Read the first line as the readable reader does, and refuse what only that one can answer."""
    reader = RowReader(track.form, Limits(), Findings())
    try:
        reader.read_header(1, header)
    except Stop:
        raise ReadableWay("the header") from None
    if reader.kaggle and reader.positions != sorted(reader.positions):
        raise ReadableWay("a prediction string before its image")
    return Heading(reader.kaggle, reader.positions)


def read_all(stream: Streaming, track: Track, readers: Callable[[Heading], Sequence[Reader]]) -> Sequence[Any]:
    """Let one reader a thread take blocks until none is left, and return the readers.

    Raises
    ------
    ReadableWay
    """
    limits = stream.limits
    if (limits.number_characters, limits.text_characters) != (CHARACTERS, MOST_CHARACTERS):
        raise ReadableWay("limits of its own")
    if limits.line_bytes < 2 * CHUNK_BYTES:  # so that only the first line of a block can be too long
        raise ReadableWay("limits of its own")
    try:
        with Blocks(stream.path, limits) as blocks, ThreadPoolExecutor(max(stream.threads - 1, 1)) as pool:
            crew = readers(heading_of(blocks.header(), track))
            tasks = [pool.submit(_drain, blocks, crew, reader, limits) for reader in crew[1:]]
            _drain(blocks, crew, crew[0], limits, tell=stream.progress)
            for task in tasks:
                task.result()
        stream.progress("checking", 1.0)
    except Unreadable as reason:
        raise ReadableWay(str(reason)) from None
    return crew


def refuse_duplicates(readers: Sequence[Reader]) -> None:
    """Leave images that have two rows to the readable way: it names them.

    Raises
    ------
    ReadableWay
    """
    times_named = np.sum([reader.state.named for reader in readers], axis=0)
    strangers = np.concatenate([part for reader in readers for part in reader.strangers] or [np.empty(0, np.uint64)])
    if times_named.max(initial=0) > 1 or len(np.unique(strangers)) < len(strangers):
        raise ReadableWay("an image in two rows")


def note(truth: Truth, readers: Sequence[Reader], findings: Findings) -> list[int]:
    """Add the notices of what every track counts, and return all counts, over all threads."""
    counts: list[int] = np.sum([reader.state.counts for reader in readers], axis=0).tolist()
    if not truth.flags["images_listed"]:
        notice_unknown_images(findings, counts[UNKNOWN_IMAGES])
    notice_oddities(
        findings,
        inverted=counts[INVERTED],
        outside=counts[OUTSIDE],
        beyond=counts[BEYOND_ONE],
    )
    notice_unknown_labels(findings, counts[UNKNOWN_LABELS], listed=listed_labels(truth)[1])
    return counts


def _drain(
    blocks: Blocks, crew: Sequence[Reader], reader: Reader, limits: Limits, *, tell: Progress | None = None
) -> None:
    """Read what the others have not; whoever fails stops all."""
    buffer = bytearray()
    try:
        while stop := blocks.take(buffer):
            reader.read(np.frombuffer(buffer, np.uint8), stop)
            if sum(each.predictions for each in crew) > limits.boxes:
                raise ReadableWay("more predictions than allowed")
            if sum(each.images for each in crew) > limits.images:
                raise ReadableWay("more images than allowed")
            if tell:
                tell("checking", blocks.fraction)
    except BaseException:
        blocks.close()
        raise
