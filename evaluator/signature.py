"""Composes the signature of a score, a short string that identifies how the score was computed."""

from collections.abc import Mapping
from typing import Any

from evaluator import __version__
from evaluator.catalog import Track


def compose(track: Track, parameters: Mapping[str, Any], truth_sha256: str) -> str:
    """Return the signature of a score.

    The signature contains the track, the parameters that can change the score, the hash of the ground truth, and the
    evaluator's version. All scores on a leaderboard have the same signature.

    Parameters
    ----------
    track : Track
    parameters : mapping
        All parameters, as :meth:`Track.resolve` returns them.
    truth_sha256 : str
        The hash of the ground truth, 64 hexadecimal digits. The signature contains the first 12. If the hash is empty,
        it is left out of the signature.

    Examples
    --------
    >>> from evaluator.catalog import TRACKS
    >>> track = TRACKS["openimages-detection"]
    >>> compose(track, track.resolve({}), "3f9c0a1b2c3d4e5f")
    'openimages-detection|iou:0.5|groupof:1|hierarchy:expand|protocol:tfod|truth:3f9c0a1b2c3d|evaluator:1.1.0'
    """
    words = [
        f"{parameter.short}:{parameter.written(parameters[parameter.name])}"
        for parameter in track.parameters
        if parameter.in_signature(parameters[parameter.name])
    ]
    truth = [f"truth:{truth_sha256[:12]}"] if truth_sha256 else []
    return "|".join([track.name, *words, *truth, f"evaluator:{__version__}"])
