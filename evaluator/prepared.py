"""Reads and writes prepared ground truths: files with a JSON header and memory-mapped arrays with checksums."""

import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.file_states import Identity, identity_of, is_settled
from evaluator.problems import DamagedTruth

MAGIC = b"PODIUM\x00\x05"
# A prepared ground truth file starts with the magic number, the header's SHA-256 hash, and the header's length.
START = struct.Struct("<8s32sQ")
ALIGNMENT = 64
DAMAGED = "is damaged: its checksum does not match; prepare it again"
CHANGED = "was changed while it was being read"
FOREIGN = "was prepared by a different version of podium, or is damaged; prepare it again"
Entry = Mapping[str, Any]
"""An array's entry in the header: name, dtype, shape, offset (``at``), size in bytes and sha256."""
# The last known state of each prepared ground truth file, and the names of the arrays that were verified in this state.
_VERIFIED: dict[Path, tuple[Identity, set[str]]] = {}


def write(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a prepared ground truth to a temporary file, which is renamed when it is complete.

    The file consists of the magic number, the SHA-256 hash and the length of the header, the header, and the arrays.
    Arrays begin at multiples of 64 bytes. The header is a JSON object with the items of ``about`` and with an entry for
    each array. Each entry contains the SHA-256 hash of its array, including the padding. Therefore, the hash of the
    header protects the whole file.
    """
    blocks, entries, offset = [], [], 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        blocks.append(data + bytes(-len(data) % ALIGNMENT))
        entry = {"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "at": offset, "bytes": len(data)}
        entries.append(entry | {"sha256": sha256(blocks[-1]).hexdigest()})
        offset += len(blocks[-1])
    header = json.dumps({**about, "arrays": entries}).encode()
    header += b" " * (-(START.size + len(header)) % ALIGNMENT)
    start = START.pack(MAGIC, sha256(header).digest(), len(header))
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(b"".join([start, header, *blocks]))
        partial.replace(path)
    finally:
        # After an error, such as a full disk, the temporary file still exists and must be deleted.
        partial.unlink(missing_ok=True)


class Mapped(Mapping[str, NDArray[Any]]):
    """The memory-mapped arrays of a prepared ground truth. Each array is verified against its checksum on first use.

    Parameters
    ----------
    path : Path
    identity : tuple of int
        Identifies the state of the file; see :func:`evaluator.file_states.identity_of`.
    body : uint8 array
        The content of the file after its header.
    entries : mapping of str to Entry
        The header's entry for each array.
    verified : set of str
        Names of the arrays that have been verified. This set is shared by all objects that map the file
        in the same state.
    """

    def __init__(
        self, path: Path, identity: Identity, body: NDArray[np.uint8], entries: Mapping[str, Entry], verified: set[str]
    ) -> None:
        self._path, self._identity, self._body, self._entries, self._verified = path, identity, body, entries, verified

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the array with the given name. The array is read-only."""
        entry = self._entries[name]
        block = self._body[entry["at"] :][: entry["bytes"] + -entry["bytes"] % ALIGNMENT]
        if name not in self._verified:
            if sha256(block.data).hexdigest() != entry["sha256"]:
                raise DamagedTruth(self._path.name, DAMAGED)
            self._verified.add(name)
        array: NDArray[Any] = block[: entry["bytes"]].view(entry["dtype"]).reshape(entry["shape"])
        return array

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the arrays."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(self._entries)

    @property
    def settled_state(self) -> tuple[Path, Identity] | None:
        """The path and the state of the file, or None if its modification time is too recent to be reliable."""
        return (self._path, self._identity) if is_settled(self._identity) else None

    def verify(self) -> None:
        """Verify the checksums of all arrays that have not been verified before."""
        for name in self._entries:
            self[name]

    def without(self, names: set[str]) -> "Mapped":
        """Return a mapping of all arrays except those with the given names."""
        entries = {name: entry for name, entry in self._entries.items() if name not in names}
        return Mapped(self._path, self._identity, self._body, entries, self._verified)

    def check_unchanged(self) -> None:
        """Raise DamagedTruth if the file has changed since it was opened, because old and new data might be mixed."""
        # A missing file is not an error, because the data of a deleted file remains mapped.
        with suppress(FileNotFoundError):
            if identity_of(self._path.stat()) != self._identity:
                raise DamagedTruth(self._path.name, CHANGED)


def opened(path: Path) -> tuple[dict[str, Any], Mapped]:
    """Open a prepared ground truth, and return its header and its memory-mapped arrays."""
    with path.open("rb") as file:
        state, start = os.fstat(file.fileno()), file.read(START.size)
        if not start.startswith(MAGIC):
            raise DamagedTruth(path.name, FOREIGN)
        _, digest, length = START.unpack(start.ljust(START.size, b"\0"))
        text = file.read(length) if length <= state.st_size else b""
        if sha256(text).digest() != digest:
            raise DamagedTruth(path.name, DAMAGED)
        memory = np.asarray(np.memmap(file, np.uint8, "r"))
    header = json.loads(text)
    entries = {entry["name"]: entry for entry in header["arrays"]}
    identity = identity_of(state)
    return header, Mapped(path, identity, memory[START.size + length :], entries, _verified(path, identity))


def _verified(path: Path, identity: Identity) -> set[str]:
    """Return the names of the arrays that this process has verified in the given state of a file.

    If the file was modified very recently, the set is empty, because its modification time is not reliable yet.
    """
    if not is_settled(identity):
        return set()
    if _VERIFIED.get(path, ((), set()))[0] != identity:
        _VERIFIED[path] = (identity, set())
    return _VERIFIED[path][1]
