"""Declares all tracks. This package imports only the standard library, because the web process imports it too."""

from evaluator.catalog.flickr30k import GROUNDING, RETRIEVAL
from evaluator.catalog.forms import Column, Form, Shape
from evaluator.catalog.gate_checks import GATE_CHECKS, GateCheck
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
    "GATE_CHECKS",
    "GROUNDING",
    "OBJECTNET",
    "RELATIONSHIPS",
    "RETRIEVAL",
    "SEGMENTATION",
    "TRACKS",
    "Column",
    "Form",
    "GateCheck",
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
