"""A truth folder compiled by its track."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluator import salt as salts
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
    salt: Path | None,
    hidden: bool = False,
) -> Truth:
    """Check and compile a truth folder.

    Parameters
    ----------
    usage : Path or None
        A ``usage.csv`` that replaces the folder's.
    split : (float, int) or None
        Share of public images and seed, instead of a usage file. The seed is not read where the truth has a salt.
    salt : Path or None
        A ``salt.txt`` that replaces the folder's.
    hidden : bool
        Whether what reveals answers to participants is refused as well.

    Raises
    ------
    InvalidTruth, InvalidParameters
    """
    compiler = import_module(contest.compiler)
    files = {"usage.csv": usage, salts.NAME: salt}
    replaced = {name: file.read_bytes() for name, file in files.items() if file is not None}
    folder = TruthFolder(path, contest.track, replaced, hidden=hidden)
    if split is not None and split[0] < 1.0:
        if "usage.csv" in folder:
            raise InvalidParameters("either a usage file or a split by share and seed, not both")
        images = compiler.compile_truth(folder, parameters).texts["images"]
        replaced["usage.csv"] = drawn_usage(images, *split, salt=folder.salt)
        folder = TruthFolder(path, contest.track, replaced, hidden=hidden)
    compiled: Truth = compiler.compile_truth(folder, parameters)
    return replace(compiled, salt=folder.salt)
