"""Determines the signature of a phase's evaluations, and which settings of the phase affect its prepared ground truth.

An evaluation's signature names the track, its parameters, the ground truth and the evaluator version.
"""

from typing import Any

from evaluator.signature import compose
from server.challenges.models import Phase, Truth


def shaping_settings(phase: Phase) -> dict[str, Any]:
    """Return the settings of a phase that affect its prepared ground truth, as JSON-serializable data.

    They are the track and some of its parameters.
    """
    track = phase.declared_track
    shaping = track.shaping(track.resolve(phase.parameters))
    written = {name: list(value) if isinstance(value, tuple) else value for name, value in shaping.items()}
    return {"track": track.name, "parameters": written}


def is_outdated(truth: Truth, phase: Phase) -> bool:
    """Return whether a ground truth may have been prepared with settings other than the phase's current settings."""
    return bool(truth.prepared_with != shaping_settings(phase))


def signature_of(phase: Phase, sha256: str) -> str:
    """Return the evaluation signature for a phase's current settings and the ground truth with the given sha256.

    The signature names the track, its parameters, the ground truth and the evaluator version.
    """
    track = phase.declared_track
    return compose(track, track.resolve(phase.parameters), sha256)
