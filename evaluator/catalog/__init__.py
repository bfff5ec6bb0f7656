"""What each track is called, takes and returns. Standard library only: pages and forms read it too."""

from evaluator.catalog.open_images import DETECTION, RELATIONSHIPS
from evaluator.catalog.schema import Column, Limits, Metric, Parameter, Track, TruthFile

TRACKS: dict[str, Track] = {track.name: track for track in (DETECTION, RELATIONSHIPS)}

__all__ = ["DETECTION", "RELATIONSHIPS", "TRACKS", "Column", "Limits", "Metric", "Parameter", "Track", "TruthFile"]
