"""The file of a prepared truth: a header in JSON and arrays, each with a checksum, memory-mapped."""

import json
import os
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.problems import DamagedTruth

MAGIC = b"PODIUM\x00\x05"
START_OF = struct.Struct("<8s32sQ")  # magic, sha256 of the header, its length
START = START_OF.size
ALIGNMENT = 64
DAMAGED = "is damaged: its checksum does not match; prepare it again"
CHANGED = "was changed while it was read"
FOREIGN = "this version of podium has not prepared it, or it is damaged; prepare it again"
SETTLED_NS = 2 * 10**9  # two changes within one tick of the file system's clock leave the same time
Place = Mapping[str, Any]
Identity = tuple[int, ...]
_SOUND: dict[Path, tuple[Identity, set[str]]] = {}  # the last state of each file, and its sound arrays


def write(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write one file, which takes its name when it is complete.

    Its magic, the sha256 of the header, the header's length, the header, arrays at multiples of 64 bytes. The header is
    ``about`` and, for every array, its place and the sha256 of its bytes with the zeros up to the next multiple:
    so the first sha256 covers all of the file.
    """
    blocks, places, at = [], [], 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        blocks.append(data + bytes(-len(data) % ALIGNMENT))
        place = {"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "at": at, "bytes": len(data)}
        places.append(place | {"sha256": sha256(blocks[-1]).hexdigest()})
        at += len(blocks[-1])
    header = json.dumps({**about, "arrays": places}).encode()
    header += b" " * (-(START + len(header)) % ALIGNMENT)
    start = START_OF.pack(MAGIC, sha256(header).digest(), len(header))
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(b"".join([start, header, *blocks]))
    partial.replace(path)


class Mapped(Mapping[str, NDArray[Any]]):
    """The arrays of a prepared truth, memory-mapped; none is given away before it was compared with its checksum.

    Parameters
    ----------
    path : Path
    identity : tuple of int
        What tells its states apart.
    body : uint8 array
        The file after its header.
    places : mapping of str to mapping
        What the header says of each array.
    sound : set of str
        Those that were compared; shared by all that map this state of the file.
    """

    def __init__(
        self, path: Path, identity: Identity, body: NDArray[np.uint8], places: Mapping[str, Place], sound: set[str]
    ) -> None:
        self._path, self._identity, self._body, self._places, self._sound = path, identity, body, places, sound

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one array, read-only."""
        place = self._places[name]
        block = self._body[place["at"] :][: place["bytes"] + -place["bytes"] % ALIGNMENT]
        if name not in self._sound:
            if sha256(block.data).hexdigest() != place["sha256"]:
                raise DamagedTruth(self._path.name, DAMAGED)
            self._sound.add(name)
        array: NDArray[Any] = block[: place["bytes"]].view(place["dtype"]).reshape(place["shape"])
        return array

    def __iter__(self) -> Iterator[str]:
        """Return their names."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def verify(self) -> None:
        """Compare all that were not compared before."""
        for name in self._places:
            self[name]

    def without(self, names: set[str]) -> "Mapped":
        """Return the others."""
        places = {name: place for name, place in self._places.items() if name not in names}
        return Mapped(self._path, self._identity, self._body, places, self._sound)

    def check_unchanged(self) -> None:
        """Raise DamagedTruth where the file was changed since it was opened: what was read may be either."""
        with suppress(FileNotFoundError):  # what is mapped stays
            if identity_of(self._path.stat()) != self._identity:
                raise DamagedTruth(self._path.name, CHANGED)


def opened(path: Path) -> tuple[dict[str, Any], Mapped]:
    """Return the header of a prepared truth and its arrays."""
    with path.open("rb") as file:
        state, start = os.fstat(file.fileno()), file.read(START)
        if not start.startswith(MAGIC):
            raise DamagedTruth(path.name, FOREIGN)
        _, digest, length = START_OF.unpack(start.ljust(START, b"\0"))
        text = file.read(length) if length <= state.st_size else b""
        if sha256(text).digest() != digest:
            raise DamagedTruth(path.name, DAMAGED)
        memory = np.asarray(np.memmap(file, np.uint8, "r"))
    header = json.loads(text)
    places = {place["name"]: place for place in header["arrays"]}
    identity = identity_of(state)
    return header, Mapped(path, identity, memory[START + length :], places, _sound(path, identity))


def identity_of(state: os.stat_result) -> Identity:
    """Return what tells two states of a file apart; the time of its last change comes first."""
    return max(state.st_mtime_ns, state.st_ctime_ns), state.st_dev, state.st_ino, state.st_size


def _sound(path: Path, identity: Identity) -> set[str]:
    """Return which arrays of this state of a file this process has found sound.

    Nothing is remembered of a file that changed a moment ago: it may change again without its times showing it.
    """
    if time.time_ns() - identity[0] < SETTLED_NS:
        return set()
    if _SOUND.get(path, ((), set()))[0] != identity:
        _SOUND[path] = (identity, set())
    return _SOUND[path][1]
