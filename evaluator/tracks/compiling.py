"""Opens ground truths by loading prepared files or compiling folders."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluator import salt as salts
from evaluator.catalog import Track
from evaluator.files.folder import TruthFolder
from evaluator.problems import InvalidParameters, PreparedOtherwise
from evaluator.request import TruthOptions
from evaluator.tracks import compiler_of
from evaluator.tracks.interface import ParametersType, Scorer, SubmissionType, TruthType
from evaluator.truth import Truth, drawn_usage


def open_truth(
    scorer: Scorer[TruthType, ParametersType, SubmissionType],
    path: Path,
    parameters: Mapping[str, Any] | None = None,
    opening: TruthOptions | None = None,
) -> TruthType:
    """Load a prepared ground truth or compile a folder, and return an instance of the track's ground truth class.

    ``parameters`` must contain all parameters of the track. If they are None, a prepared ground truth may have any
    parameters, and a folder is compiled with the default values.

    Raises
    ------
    InvalidTruth, DamagedTruth, InvalidParameters, PreparedOtherwise
    """
    opening = opening or TruthOptions()
    if path.is_file():
        return scorer.truth_of(_loaded(scorer.track, path, parameters, opening))
    resolved = scorer.track.resolve({}) if parameters is None else parameters
    compiler, typed = compiler_of(scorer.track), scorer.parameters_of(resolved)
    return scorer.truth_of(_compiled(scorer.track, path, lambda folder: compiler.compile_truth(folder, typed), opening))


def _loaded(track: Track, path: Path, parameters: Mapping[str, Any] | None, opening: TruthOptions) -> Truth:
    if any(each is not None for each in (opening.usage, opening.split, opening.salt)):
        raise InvalidParameters(
            "a prepared truth already contains the usage and the salt; prepare it again to change them"
        )
    truth = Truth.load(path, whole=opening.verify, expected=opening.expected)
    refuse_prepared_otherwise(truth, track, parameters)
    return truth


def refuse_prepared_otherwise(truth: Truth, track: Track, parameters: Mapping[str, Any] | None) -> None:
    """Raise an exception if a ground truth was prepared for a different track or with different parameters.

    ``parameters`` must contain all parameters of the track. If they are None, any parameters are accepted.

    Raises
    ------
    PreparedOtherwise
    """
    if truth.track != track.name:
        raise PreparedOtherwise(f"this truth was prepared for {truth.track}, not for {track.name}")
    for name, value in truth.parameters.items():
        if parameters is not None and parameters[name] != value:
            raise PreparedOtherwise(
                f"this truth was prepared with {name}={value}; to use another value, prepare it again"
            )


def _compiled(track: Track, path: Path, compile_folder: Callable[[TruthFolder], Truth], opening: TruthOptions) -> Truth:
    files = {"usage.csv": opening.usage, salts.NAME: opening.salt}
    replaced = {name: file.read_bytes() for name, file in files.items() if file is not None}
    folder = TruthFolder(path, track, replaced, hidden=opening.hidden)
    if opening.split is not None and opening.split[0] < 1.0:
        if "usage.csv" in folder:
            raise InvalidParameters("give either a usage file or a fraction and a seed, not both")
        replaced["usage.csv"] = drawn_usage(compile_folder(folder).images, *opening.split, salt=folder.salt)
        folder = TruthFolder(path, track, replaced, hidden=opening.hidden)
    return replace(compile_folder(folder), salt=folder.salt)
