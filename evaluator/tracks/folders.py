"""A truth folder compiled by its track."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluator.files.folder import TruthFolder
from evaluator.problems import InvalidParameters
from evaluator.tracks.contest import Contest
from evaluator.truth import Truth, drawn_usage


def compile_folder(
    contest: Contest,
    path: Path,
    parameters: Mapping[str, Any],
    *,
    usage: Path | None,
    split: tuple[float, int] | None,
    hidden: bool = False,
) -> Truth:
    """Check and compile a truth folder.

    Parameters
    ----------
    usage : Path or None
        A ``usage.csv`` that stands for the folder's.
    split : (float, int) or None
        Share of public images and seed, instead of a usage file.
    hidden : bool
        Whether what reveals answers to participants is refused as well.

    Raises
    ------
    InvalidTruth, InvalidParameters
    """
    compiler = import_module(contest.compiler)
    folder = TruthFolder(path, contest.track, usage.read_bytes() if usage is not None else None, hidden=hidden)
    if split is not None and split[0] < 1.0:
        if "usage.csv" in folder:
            raise InvalidParameters("either a usage file or a split by share and seed, not both")
        images = compiler.compile_truth(folder, parameters).texts["images"]
        folder = TruthFolder(path, contest.track, drawn_usage(images, *split), hidden=hidden)
    compiled: Truth = compiler.compile_truth(folder, parameters)
    return compiled
