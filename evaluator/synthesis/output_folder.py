"""Replaces an output folder as a whole, but only if all of its files come from an earlier synthesis."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluator.problems import PodiumError

MANIFEST = "synthesis.json"


class OccupiedFolder(PodiumError):
    """Raised if the output folder contains a file that was not synthesized."""


def check_replaceable(folder: Path) -> None:
    """Raise an exception if replacing ``folder`` would delete a file that was not synthesized.

    Raises
    ------
    OccupiedFolder
        If ``folder`` is a file, or if it contains a file that its manifest does not list.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OccupiedFolder(f"{folder} is not a folder")
    foreign = _files(folder) - {MANIFEST, *read_manifest(folder).get("files", [])}
    if foreign:
        raise OccupiedFolder(
            f"{folder} contains {min(foreign)}, which was not synthesized; choose a new or empty folder"
        )


@contextmanager
def replaced_folder(folder: Path, about: Mapping[str, Any]) -> Iterator[Path]:
    """Yield a new folder, which replaces ``folder`` when the block ends without an error.

    The new folder also gets a manifest, which contains ``about`` and the list of its files.
    """
    folder = folder.resolve()
    check_replaceable(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    workspace = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        fresh = workspace / "new"
        fresh.mkdir()
        yield fresh
        manifest = {**about, "files": sorted(_files(fresh))}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        if folder.exists():
            folder.rename(workspace / "old")
        fresh.rename(folder)
    finally:
        shutil.rmtree(workspace)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a synthesized folder, or an empty dict if the folder was not synthesized."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
