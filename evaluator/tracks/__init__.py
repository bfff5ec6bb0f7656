"""Looks up the implementations of a track. The modules are imported only when they are needed.

:mod:`evaluator.tracks.interface` defines the protocols. Their type parameters differ from track to track, so the
functions of this module are typed with ``Any`` instead.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from evaluator import kernels
from evaluator.catalog import TRACKS, Track
from evaluator.problems import InvalidParameters
from evaluator.request import Progress
from evaluator.tracks.interface import Explainer, FastPath, Scorer, TruthCompiler, TruthDescriber

# For files with fewer bytes than this, loading the compiled kernels takes longer than reading the file without kernels.
SMALL_BYTES = 1 << 20


def scorer_of(track: str) -> Scorer[Any, Any, Any]:
    """Return the scorer of a track. The scorers of other tracks are not loaded.

    Raises
    ------
    InvalidParameters
        If there is no track with this name. The message lists all tracks.
    """
    if track not in TRACKS:
        raise InvalidParameters(f"there is no track {track}; the tracks are {', '.join(TRACKS)}")
    return cast(Scorer[Any, Any, Any], import_module(TRACKS[track].modules.scorer).SCORER)


def compiler_of(track: Track) -> TruthCompiler[Any]:
    """Return the object that compiles the ground truth folders of a track."""
    name = track.modules.compiler
    return cast(TruthCompiler[Any], import_module(name) if name else scorer_of(track.name))


def fast_path_of(track: Track) -> FastPath[Any, Any]:
    """Return the fast path (scoring with compiled kernels) of a track that declares one."""
    return cast(FastPath[Any, Any], import_module(track.modules.fast_path))


def fast_path_for(track: Track, submission: Path, progress: Progress) -> FastPath[Any, Any] | None:
    """Return the fast path (scoring with compiled kernels) of a track.

    Return None if the track has none, or if the fast path is not loaded yet and the file is too small to benefit from
    loading it.
    """
    name = track.modules.fast_path
    if not name:
        return None
    if name not in sys.modules:
        if submission.stat().st_size < SMALL_BYTES:
            return None
        kernels.compile_once(progress)
    return fast_path_of(track)


def explainer_of(track: Track) -> Explainer[Any, Any, Any]:
    """Return the module that explains scores, for a track that declares such a module."""
    return cast(Explainer[Any, Any, Any], import_module(track.modules.explanation))


def describer_of(track: Track) -> TruthDescriber[Any] | None:
    """Return the module that computes statistics of a ground truth, or None if the track has none."""
    name = track.modules.statistics
    return cast(TruthDescriber[Any], import_module(name)) if name else None
