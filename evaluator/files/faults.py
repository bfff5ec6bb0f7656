"""What is wrong with a truth; all of it is counted and said at once."""

import sys
from dataclasses import dataclass, field

from evaluator.problems import Findings, InvalidTruth, Problem


@dataclass(slots=True)
class Faults:
    """Collects the faults of a folder: all of them, for an organizer's file is not hostile."""

    found: Findings = field(default_factory=lambda: Findings(most=sys.maxsize))
    checked: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, code: str, file: str, message: str, *, line: int | None = None, column: str | None = None) -> None:
        """Note one fault."""
        self.found.add(Problem(code, message, line=line, column=column, file=file))

    def count(self, code: str, more: int) -> None:
        """Count further faults of a kind that need not be shown."""
        if more:
            self.found.counts[code] = self.found.counts.get(code, 0) + more

    def check(self) -> None:
        """Raise InvalidTruth where anything was noted."""
        if self.found.total:
            raise self.error

    @property
    def error(self) -> InvalidTruth:
        """Everything that was noted."""
        return InvalidTruth(self.found)
