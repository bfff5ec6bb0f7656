"""A truth folder compiled. It takes pandas, so this module is imported where a folder is given, and only there."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evaluator.catalog import DETECTION, RELATIONSHIPS, Track
from evaluator.files.tables import TruthFolder
from evaluator.problems import InvalidParameters
from evaluator.tracks import detection_truth, relationships_truth
from evaluator.truth import Truth, drawn_usage

COMPILERS: dict[str, Callable[[TruthFolder, Mapping[str, Any]], Truth]] = {
    DETECTION.name: detection_truth.compile_truth,
    RELATIONSHIPS.name: relationships_truth.compile_truth,
}


def compile_folder(
    track: Track,
    path: Path,
    parameters: Mapping[str, Any],
    *,
    usage: Path | None,
    split: tuple[float, int] | None,
) -> Truth:
    """Check and compile a truth folder.

    Parameters
    ----------
    usage : Path or None
        A ``usage.csv`` that stands for the folder's.
    split : (float, int) or None
        Share of public images and seed, instead of a usage file.

    Raises
    ------
    InvalidTruth, InvalidParameters
    """
    compiled = COMPILERS[track.name]
    folder = TruthFolder(path, track, usage.read_bytes() if usage is not None else None)
    if split is not None and split[0] < 1.0:
        if "usage.csv" in folder:
            raise InvalidParameters("either a usage file or a split by share and seed, not both")
        images = compiled(folder, parameters).texts["images"]
        folder = TruthFolder(path, track, drawn_usage(images, *split))
    return compiled(folder, parameters)
