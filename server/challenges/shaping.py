"""Settings of a phase on which its prepared ground truths depend, and settings that are part of its signature."""

from typing import Any

from evaluator.signature import compose
from server.challenges.models import Phase, Truth


def shaping_settings(phase: Phase) -> dict[str, Any]:
    """Return the settings on which a prepared ground truth depends (the track and some parameters) as JSON data."""
    track = phase.declared_track
    shaping = track.shaping(track.resolve(phase.parameters))
    written = {name: list(value) if isinstance(value, tuple) else value for name, value in shaping.items()}
    return {"track": track.name, "parameters": written}


def is_outdated(truth: Truth, phase: Phase) -> bool:
    """Return whether a ground truth may have been prepared with settings other than the current ones."""
    return bool(truth.prepared_with != shaping_settings(phase))


def signature_of(phase: Phase, sha256: str) -> str:
    """Return the signature of scores under a phase's current settings and the ground truth with this sha256."""
    track = phase.declared_track
    return compose(track, track.resolve(phase.parameters), sha256)
