"""Stores the statistics of ground truths.

The child process that prepares a ground truth computes its statistics, which include the best possible score.
"""

import json
from pathlib import Path
from typing import Any

from server.challenges.models import Truth
from server.organize.models import TruthStatistics


def read(path: Path) -> dict[str, Any]:
    """Return the statistics of a ground truth from a file that `podium prepare --statistics` has written."""
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def store(truth: Truth, content: dict[str, Any]) -> None:
    """Store the statistics of a ground truth, replacing any earlier ones."""
    TruthStatistics.objects.update_or_create(truth=truth, defaults={"content": content})


def complete(truth: Truth, content: dict[str, Any]) -> None:
    """Store statistics for a ground truth that has none because it was prepared by an earlier version of Podium."""
    if not TruthStatistics.objects.filter(truth=truth).exists():
        store(truth, content)


def of(truth: Truth) -> dict[str, Any]:
    """Return the statistics of a ground truth, or an empty dict if they have not been computed."""
    found = TruthStatistics.objects.filter(truth=truth).first()
    return found.content if found else {}
