"""Looks up the implementations of a track. Their modules are loaded only when they are needed.

The protocols are in :mod:`evaluator.tracks.interface`. The types of their parameters are not declared here, because
they differ from track to track.
"""

import sys
from importlib import import_module
from typing import Any, cast

from evaluator.catalog import TRACKS, Track
from evaluator.problems import InvalidParameters
from evaluator.tracks.interface import Explainer, FastPath, Scorer, TruthCompiler


def scorer_of(track: str) -> Scorer[Any, Any, Any]:
    """Return the scorer of a track; the scorers of other tracks are not loaded.

    Raises
    ------
    InvalidParameters
        If there is no track of this name; the message lists all tracks.
    """
    if track not in TRACKS:
        raise InvalidParameters(f"{track}: no such track; the tracks are {', '.join(TRACKS)}")
    return cast(Scorer[Any, Any, Any], import_module(TRACKS[track].modules.scorer).SCORER)


def compiler_of(track: Track) -> TruthCompiler[Any]:
    """Return the truth compiler of a track."""
    name = track.modules.compiler
    return cast(TruthCompiler[Any], import_module(name) if name else scorer_of(track.name))


def fast_path_of(track: Track) -> FastPath[Any, Any]:
    """Return the fast path of a track that declares one."""
    return cast(FastPath[Any, Any], import_module(track.modules.fast_path))


def fast_path_is_loaded(track: Track) -> bool:
    """Return whether the fast path of a track has been loaded."""
    return track.modules.fast_path in sys.modules


def explainer_of(track: Track) -> Explainer[Any, Any, Any]:
    """Return the explainer of a track that declares an explanation."""
    return cast(Explainer[Any, Any, Any], import_module(track.modules.explanation))
