"""The manifest of a backup: its files and their checksums, and the migrations and secret keys that belong to it."""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

FORMAT = 1
NAME = "manifest.json"
CHUNK_BYTES = 1 << 20


class Unusable(Exception):
    """Raised if a backup cannot be written or restored. The message explains why and what to do."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The size in bytes and the sha256 of a file in a backup."""

    bytes: int
    sha256: str


@dataclass(slots=True)
class Manifest:
    """The content of a backup.

    made_at : time of the database snapshot, ISO 8601 in UTC
    vendor : "sqlite" or "postgresql"
    migrations : names of the applied migrations, as "app.name"
    installation : the id of the installation; empty for a database that has none yet
    keys : for each secret key, a fingerprint from which the key cannot be computed
    files : path inside the backup -> size and checksum
    """

    made_at: str
    vendor: str
    migrations: list[str]
    installation: str
    keys: dict[str, str]
    files: dict[str, Stored] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        (folder / NAME).write_text(json.dumps({"format": FORMAT, **asdict(self)}, indent=1))

    @property
    def size_bytes(self) -> int:
        return sum(one.bytes for one in self.files.values())


def read(folder: Path) -> Manifest:
    """Return the manifest of a backup. Raises Unusable if the folder contains no readable backup."""
    try:
        content = json.loads((folder / NAME).read_text())
        if content.pop("format") != FORMAT:
            raise Unusable(f"{folder} was written by a later version of Podium. Restore it with that version.")
        files = {path: Stored(**one) for path, one in content.pop("files").items()}
        return Manifest(**content, files=files)
    except FileNotFoundError:
        raise Unusable(f"{folder} contains no {NAME}, so it is not a complete backup.") from None
    except PermissionError as error:
        raise unreadable(folder, error) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"{folder / NAME} is damaged ({error}). Use another backup.") from error


def unreadable(folder: Path, error: PermissionError) -> Unusable:
    """Return the error for a backup whose files this user may not read, for example because root has copied them."""
    advice = f"Run `chown -R {os.geteuid()} {folder}` as root. This user must also be able to enter the folders above."
    return Unusable(f"{error.filename} cannot be read ({error.strerror}). {advice}")


def faults(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Compare every file with its checksum.

    Yield an empty string for each intact file, and a message for each missing or changed file. Raises Unusable if this
    user may not read a file.
    """
    for path, expected in manifest.files.items():
        if Path(path).is_absolute() or ".." in Path(path).parts:
            yield f"{path} points outside the backup."
        else:
            yield fault(folder, path, expected)


def fault(folder: Path, path: str, expected: Stored) -> str:
    """Return a message if a file is missing or differs from its checksum, otherwise an empty string."""
    try:
        if not (folder / path).is_file():
            return f"{path} is missing."
        return "" if checksum(folder / path) == expected else f"{path} was changed or damaged."
    except PermissionError as error:
        raise unreadable(folder, error) from error


def checksum(path: Path) -> Stored:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return Stored(file.tell(), sha256)
