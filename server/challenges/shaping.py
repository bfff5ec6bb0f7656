"""The settings of a phase on which its prepared ground truths depend, and the settings that its signature contains."""

from typing import Any

from evaluator.signature import compose
from server.challenges.models import Phase, Truth


def shaping_settings(phase: Phase) -> dict[str, Any]:
    """Return the settings on which a prepared ground truth depends, as JSON data: the track and some parameters."""
    track = phase.declared_track
    shaping = track.shaping(track.resolve(phase.parameters))
    written = {name: list(value) if isinstance(value, tuple) else value for name, value in shaping.items()}
    return {"track": track.name, "parameters": written}


def is_outdated(truth: Truth, phase: Phase) -> bool:
    """Return whether the prepared file of a truth may have been prepared with settings other than the current ones."""
    return bool(truth.prepared_with != shaping_settings(phase))


def signature_of(phase: Phase, sha256: str) -> str:
    """Return the signature of scores with the current settings of a phase, against the truth with this sha256."""
    track = phase.declared_track
    return compose(track, track.resolve(phase.parameters), sha256)
