"""Detects display names that a submission contains instead of ids."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluator.files.notices import notice_names
from evaluator.problems import Findings


@dataclass(frozen=True, slots=True)
class GivenNames:
    """Counts the display names that a submission contains instead of ids. Keys of ``counts`` are pairs (name, id)."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def ids_of(self, texts: Sequence[str], by_name: Mapping[str, str]) -> dict[str, str]:
        """Count the strings that are display names, and return a dict that maps each of them to its id.

        >>> GivenNames().ids_of(["Cat", "x"], {"cat": "/m/01yrx"})
        {'Cat': '/m/01yrx'}
        """
        if not by_name:
            return {}
        counts = Counter(texts)
        found = {text: by_name[text.lower()] for text in counts if text.lower() in by_name}
        self.counts.update({(text, label): counts[text] for text, label in found.items()})
        return found

    def add_notice(self, findings: Findings) -> None:
        """Add a notice with the number of display names, and one of these names as an example."""
        if self.counts:
            notice_names(findings, *next(iter(self.counts)), self.counts.total())
