"""Relationships have no kernels yet."""

from collections.abc import Mapping
from typing import Any

from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.contest import ReadableWay, Streaming
from evaluator.truth import Truth


def stream(
    truth: Truth, submission: Streaming, parameters: Mapping[str, Any], findings: Findings
) -> dict[str, SplitReport]:
    """Take the readable way."""
    raise ReadableWay("relationships")
