"""Stores the statistics of ground truths and their ceilings, which the child process that prepares a ground truth
writes.
"""

import json
from pathlib import Path
from typing import Any

from server.challenges.models import Truth
from server.organize.models import TruthStatistics


def read(path: Path) -> dict[str, Any]:
    """Return the statistics that `podium prepare --statistics` wrote."""
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def store(truth: Truth, content: dict[str, Any]) -> None:
    """Store the statistics of a truth, replacing earlier ones."""
    TruthStatistics.objects.update_or_create(truth=truth, defaults={"content": content})


def complete(truth: Truth, content: dict[str, Any]) -> None:
    """Store the statistics of a truth that has none, because an earlier version of Podium prepared it."""
    if not TruthStatistics.objects.filter(truth=truth).exists():
        store(truth, content)


def of(truth: Truth) -> dict[str, Any]:
    """Return the statistics of a truth, or an empty dict if they have not been computed."""
    found = TruthStatistics.objects.filter(truth=truth).first()
    return found.content if found else {}
