"""A submitted file that is being read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evaluator.catalog import Limits
from evaluator.problems import Findings

ReadProgress = Callable[[float], None]
"""Takes the fraction of a file that has been read."""


def ignore_progress(fraction: float) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Source:
    """A submitted file, its limits, the findings that its defects are added to, and a callback for progress."""

    path: Path
    limits: Limits = field(default_factory=Limits)
    findings: Findings = field(default_factory=Findings)
    progress: ReadProgress = ignore_progress
