"""A folder that appears whole or not at all, and replaces nothing but its own earlier self."""

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
    """The folder holds something that was not synthesized."""


def refuse_foreign(folder: Path) -> None:
    """Make sure that nothing is lost when ``folder`` is replaced.

    Raises
    ------
    OccupiedFolder
        It is a file, or it holds a file that its manifest does not list.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OccupiedFolder(f"{folder} is not a folder")
    foreign = _files(folder) - {MANIFEST, *read_manifest(folder).get("files", [])}
    if foreign:
        raise OccupiedFolder(f"{folder} holds {min(foreign)}, which was not synthesized; name an empty or a new folder")


@contextmanager
def replacing(folder: Path, about: Mapping[str, Any]) -> Iterator[Path]:
    """Give a new folder to fill; when it is full, it takes the place of ``folder``.

    A manifest goes with it: what it is ``about``, and the list of its files.
    """
    folder = folder.resolve()
    refuse_foreign(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    workplace = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        fresh = workplace / "new"
        fresh.mkdir()
        yield fresh
        manifest = {**about, "files": sorted(_files(fresh))}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        if folder.exists():
            folder.rename(workplace / "old")
        fresh.rename(folder)
    finally:
        shutil.rmtree(workplace)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what is known about a synthesized folder; nothing if it is not one."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
