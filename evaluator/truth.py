"""A truth compiled once: checked, expanded, sorted, and kept as one memory-mapped file."""

import csv
import io
import json
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from evaluator.problems import Findings, InvalidTruth, Problem

MAGIC = b"PODIUM\x00\x04"
ALIGNMENT = 64
IGNORED, PUBLIC, PRIVATE = 0, 1, 2
USAGES = {"ignored": IGNORED, "public": PUBLIC, "private": PRIVATE}


class Texts(Sequence[str]):
    """Texts as they lie in a file; each is decoded when it is asked for.

    >>> Texts.of(["a", "bc"])[1]
    'bc'
    """

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.data = data
        self.ends = ends

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Texts":
        """Encode texts one after another."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        """Return one text, or a list of them."""
        if isinstance(place, slice):
            return list(self)[place]
        stop = int(self.ends[place])
        start = int(self.ends[place - 1]) if place % len(self) else 0
        return self.data[start:stop].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        """Decode all of them."""
        blob, stops = self.data.tobytes(), self.ends.tolist()
        return (blob[start:stop].decode() for start, stop in zip([0, *stops], stops, strict=False))


@dataclass(frozen=True)
class Truth:
    """What a submission is scored against.

    Attributes
    ----------
    track : str
    sha256 : str
        Names the truth: 64 hexadecimal digits over its files.
    parameters : mapping
        Those that shaped it; a scoring with other values is refused.
    flags : mapping of str to bool
        Such as ``images_listed``: unknown images are defects.
    texts : mapping of str to list of str
        ``images``, ``labels``, display names …; a code is a place in such a list.
    arrays : mapping of str to array
        The track's own, and ``usage``: int8 of shape (images,), 0 ignored, 1 public, 2 private. Read-only.
    warnings : Findings
        What was noticed while the truth was compiled from its folder; a prepared file does not keep it.
    """

    track: str
    sha256: str
    parameters: Mapping[str, Any]
    flags: Mapping[str, bool]
    texts: Mapping[str, Sequence[str]]
    arrays: Mapping[str, NDArray[Any]] = field(repr=False)
    warnings: Findings = field(default_factory=Findings, repr=False)

    def __post_init__(self) -> None:
        """Nobody may write to what everybody reads."""
        for array in self.arrays.values():
            array.flags.writeable = False

    @cached_property
    def image_codes(self) -> dict[str, int]:
        """Code of each image."""
        return {image: code for code, image in enumerate(self.texts["images"])}

    @cached_property
    def label_codes(self) -> dict[str, int]:
        """Code of each label."""
        return {label: code for code, label in enumerate(self.texts["labels"])}

    @cached_property
    def splits(self) -> dict[str, NDArray[np.bool_]]:
        """Which images count for each split, shape (images,); ``private`` only where an image is private."""
        usage = self.arrays["usage"]
        splits = {"all": usage != IGNORED, "public": usage == PUBLIC, "private": usage == PRIVATE}
        return splits if splits["private"].any() else {name: splits[name] for name in ("all", "public")}

    def save(self, path: Path) -> None:
        """Write one file: magic, length of the header, JSON header, arrays at multiples of 64 bytes."""
        arrays = {**self.arrays}
        for name, texts in self.texts.items():
            encoded = Texts.of(texts)
            arrays |= {f"{name}.bytes": encoded.data, f"{name}.ends": encoded.ends}
        blocks, places, at = [], [], 0
        for name, array in arrays.items():
            data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
            places.append({"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "at": at})
            blocks.append(data + bytes(-len(data) % ALIGNMENT))
            at += len(blocks[-1])
        header = json.dumps(
            {
                "track": self.track,
                "sha256": self.sha256,
                "parameters": self.parameters,
                "flags": self.flags,
                "texts": list(self.texts),
                "arrays": places,
                "bytes": at,
            }
        ).encode()
        header += b" " * (-(len(MAGIC) + 8 + len(header)) % ALIGNMENT)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_bytes(b"".join([MAGIC, struct.pack("<Q", len(header)), header, *blocks]))
        partial.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Truth":
        """Map a prepared truth; only what is used is read.

        Raises
        ------
        InvalidTruth
            Where the file is not a prepared truth of this version, or was cut off.
        """
        try:
            memory = np.asarray(np.memmap(path, np.uint8, "r"))
            start = len(MAGIC) + 8
            if bytes(memory[: len(MAGIC)]) != MAGIC:
                raise ValueError("not a truth prepared by this version; prepare it again")
            (length,) = struct.unpack("<Q", bytes(memory[len(MAGIC) : start]))
            header = json.loads(bytes(memory[start : start + length]))
            body = memory[start + length :]
            if len(body) != header["bytes"]:
                raise ValueError("the prepared truth was cut off; prepare it again")
            arrays = {place["name"]: _mapped(body, place) for place in header["arrays"]}
        except (OSError, ValueError, struct.error, KeyError) as error:
            raise InvalidTruth(Findings.of(Problem("truth_bad_value", str(error), file=path.name))) from None
        texts = {name: Texts(arrays.pop(f"{name}.bytes"), arrays.pop(f"{name}.ends")) for name in header["texts"]}
        return cls(header["track"], header["sha256"], header["parameters"], header["flags"], texts, arrays)


def _mapped(body: NDArray[np.uint8], place: Mapping[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(place["dtype"])
    size = int(np.prod(place["shape"])) * dtype.itemsize
    array: NDArray[Any] = body[place["at"] : place["at"] + size].view(dtype).reshape(place["shape"])
    return array


def newly_public(before: Truth, after: Truth) -> int:
    """Return how many images were private in one truth and are public in another."""
    private = {
        image for image, usage in zip(before.texts["images"], before.arrays["usage"], strict=True) if usage == PRIVATE
    }
    public = (
        image for image, usage in zip(after.texts["images"], after.arrays["usage"], strict=True) if usage == PUBLIC
    )
    return sum(image in private for image in public)


def is_prepared(path: Path) -> bool:
    """Tell a prepared truth by its magic."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC) - 1) == MAGIC[:-1]


def drawn_usage(images: Sequence[str], share: float, seed: int) -> bytes:
    """Return a ``usage.csv`` that is public for about ``share`` of the images, the same on every machine.

    An image is public where the first 8 bytes (big-endian) of sha256("seed:image"), divided by 2**64, are below
    ``share``; else private.

    >>> drawn_usage(["b", "a"], 1.0, 7).split()
    [b'ImageID,Usage', b'a,Public', b'b,Public']
    """
    content = io.StringIO()
    rows = csv.writer(content, lineterminator="\n")
    rows.writerow(("ImageID", "Usage"))
    for image in sorted(images):
        place = int.from_bytes(sha256(f"{seed}:{image}".encode()).digest()[:8], "big") / 2**64
        rows.writerow((image, "Public" if place < share else "Private"))
    return content.getvalue().encode()
