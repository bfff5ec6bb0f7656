"""A submission on its way in."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evaluator.catalog import Limits
from evaluator.problems import Findings


def unheard(fraction: float) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file, what it may hold, where its defects go, and who hears what fraction of it has been read."""

    path: Path
    limits: Limits = field(default_factory=Limits)
    findings: Findings = field(default_factory=Findings)
    progress: Callable[[float], None] = unheard
