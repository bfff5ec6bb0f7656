"""Defines the input of functions that read a submission."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evaluator.catalog import Limits
from evaluator.problems import Findings

ReadProgress = Callable[[float], None]
"""A callback whose argument is the fraction of a file that has been read."""


def ignore_progress(fraction: float) -> None:
    """Ignore the progress. This is the default progress callback."""


@dataclass(frozen=True, slots=True)
class Source:
    """A submission to read, with its limits, the findings to which defects are added, and a progress callback.

    Large amounts of data are kept in a file in ``temporary_folder``, by default the system's folder for such files.
    """

    path: Path
    limits: Limits = field(default_factory=Limits)
    findings: Findings = field(default_factory=Findings)
    progress: ReadProgress = ignore_progress
    temporary_folder: Path | None = None
