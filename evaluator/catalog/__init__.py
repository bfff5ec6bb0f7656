"""What each track is called, takes and returns. Standard library only: pages and forms read it too."""

from evaluator.catalog.flickr30k import GROUNDING, RETRIEVAL
from evaluator.catalog.forms import Column, Form, Shape
from evaluator.catalog.objectnet import OBJECTNET
from evaluator.catalog.open_images import CLASSIFICATION, DETECTION, RELATIONSHIPS, SEGMENTATION
from evaluator.catalog.schema import Heading, Limits, Metric, Parameter, ReportTable, Track, TruthFile

_DECLARED = (DETECTION, RELATIONSHIPS, SEGMENTATION, CLASSIFICATION, GROUNDING, RETRIEVAL, OBJECTNET)
TRACKS: dict[str, Track] = {track.name: track for track in _DECLARED}

__all__ = [
    "CLASSIFICATION",
    "DETECTION",
    "GROUNDING",
    "OBJECTNET",
    "RELATIONSHIPS",
    "RETRIEVAL",
    "SEGMENTATION",
    "TRACKS",
    "Column",
    "Form",
    "Heading",
    "Limits",
    "Metric",
    "Parameter",
    "ReportTable",
    "Shape",
    "Track",
    "TruthFile",
]
