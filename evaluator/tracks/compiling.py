"""A truth, compiled from its folder by its track or loaded from a prepared file."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluator import salt as salts
from evaluator.files.folder import TruthFolder
from evaluator.problems import InvalidParameters
from evaluator.tracks.interface import Contest
from evaluator.truth import Truth, drawn_usage

Split = tuple[float, int]


def open_truth(
    contest: Contest,
    path: Path,
    parameters: Mapping[str, Any] | None,
    *,
    usage: Path | None = None,
    split: Split | None = None,
    salt: Path | None = None,
    hidden: bool = False,
    verify: bool = False,
    expected: str = "",
) -> Truth:
    """Load a prepared truth, or compile a folder.

    ``parameters`` None takes a prepared truth as it is. ``hidden`` concerns folders only: see
    :func:`evaluator.scoring.prepare`. ``verify`` compares all of a prepared truth with its checksums now. A prepared
    truth must have the sha256 ``expected``, unless that is empty.

    Raises
    ------
    InvalidTruth, DamagedTruth, InvalidParameters
    """
    if path.is_file():
        if any(each is not None for each in (usage, split, salt)):
            raise InvalidParameters("a prepared truth has its usage and salt already; prepare it again with others")
        return _checked(contest, Truth.load(path, whole=verify, expected=expected), parameters)
    resolved = contest.track.resolve({}) if parameters is None else parameters
    return compile_folder(contest, path, resolved, usage=usage, split=split, salt=salt, hidden=hidden)


def _checked(contest: Contest, truth: Truth, parameters: Mapping[str, Any] | None) -> Truth:
    if truth.track != contest.track.name:
        raise InvalidParameters(f"this truth was prepared for {truth.track}, not for {contest.track.name}")
    for name, value in truth.parameters.items():
        if parameters is not None and parameters[name] != value:
            raise InvalidParameters(f"this truth was prepared with {name}={value}; prepare it again for another value")
    return truth


def compile_folder(
    contest: Contest,
    path: Path,
    parameters: Mapping[str, Any],
    *,
    usage: Path | None,
    split: Split | None,
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
