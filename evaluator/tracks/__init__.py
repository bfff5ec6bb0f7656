"""One contest each: how its files become numbers."""

from importlib import import_module

from evaluator.catalog import TRACKS
from evaluator.problems import InvalidParameters
from evaluator.tracks.interface import Contest


def contest_of(track: str) -> Contest:
    """Return a track's implementation; only that one is loaded.

    Raises
    ------
    InvalidParameters
        With the names that there are.
    """
    if track not in TRACKS:
        raise InvalidParameters(f"{track}: no such track; there are {', '.join(TRACKS)}")
    contest: Contest = import_module(TRACKS[track].implementation).CONTEST
    return contest
