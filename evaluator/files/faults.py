"""Collects the faults and warnings of a ground truth folder, so that all faults are reported together."""

import sys
from dataclasses import dataclass, field

from evaluator.problems import Findings, InvalidTruth, Problem


@dataclass(slots=True)
class Faults:
    """The faults of a ground truth folder, and warnings about data that is allowed but was probably not intended.

    The number of faults is not limited, because organizers are trusted.
    """

    found: Findings = field(default_factory=lambda: Findings(most=sys.maxsize))
    warned: Findings = field(default_factory=lambda: Findings(most=sys.maxsize))
    checked: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, code: str, file: str, message: str, *, line: int | None = None, column: str | None = None) -> None:
        """Record a fault in a file of the ground truth folder."""
        self.found.add(Problem(code, message, line=line, column=column, file=file))

    def warn(self, code: str, file: str, message: str, *, line: int | None = None, column: str | None = None) -> None:
        """Record a warning about a file. Warnings do not prevent the use of the ground truth."""
        self.warned.add(Problem(code, message, line=line, column=column, file=file))

    def check(self) -> None:
        """Raise InvalidTruth if any fault has been added."""
        if self.found.total:
            raise self.error

    @property
    def error(self) -> InvalidTruth:
        """An exception that contains all faults that have been added."""
        return InvalidTruth(self.found)
