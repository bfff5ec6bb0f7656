"""The declarations of all tracks. Only the standard library is imported, because web pages read them too."""

from evaluator.catalog.flickr30k import GROUNDING, RETRIEVAL
from evaluator.catalog.forms import Column, Form, Shape
from evaluator.catalog.objectnet import OBJECTNET
from evaluator.catalog.open_images import CLASSIFICATION, DETECTION, SEGMENTATION
from evaluator.catalog.parameter import Parameter
from evaluator.catalog.relationships import RELATIONSHIPS
from evaluator.catalog.schema import Limits, Metric, Modules, ReportColumn, ReportTable, Track, TruthFile

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
    "Limits",
    "Metric",
    "Modules",
    "Parameter",
    "ReportColumn",
    "ReportTable",
    "Shape",
    "Track",
    "TruthFile",
]
