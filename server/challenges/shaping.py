"""The settings of a phase that its prepared ground truths depend on, and those that its signature contains."""

from typing import Any

from evaluator.signature import compose
from server.challenges.models import Phase, Truth


def shaping_settings(phase: Phase) -> dict[str, Any]:
    """Return the settings that a prepared ground truth depends on, as plain data: the track and some parameters."""
    track = phase.declared_track
    shaping = track.shaping(track.resolve(phase.parameters))
    written = {name: list(value) if isinstance(value, tuple) else value for name, value in shaping.items()}
    return {"track": track.name, "parameters": written}


def is_outdated(truth: Truth, phase: Phase) -> bool:
    """Return whether the prepared file of a version was, or may have been, prepared with other settings."""
    return bool(truth.prepared_with != shaping_settings(phase))


def signature_of(phase: Phase, sha256: str) -> str:
    """Return the signature of scores against the truth with this sha256, with the phase's current settings."""
    track = phase.declared_track
    return compose(track, track.resolve(phase.parameters), sha256)
