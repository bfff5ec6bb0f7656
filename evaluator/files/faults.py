"""Collects the faults and warnings of a truth folder, so that all of them are reported together."""

import sys
from dataclasses import dataclass, field

from evaluator.problems import Findings, InvalidTruth, Problem


@dataclass(slots=True)
class Faults:
    """The faults of a truth folder, and warnings about data that can be scored but was probably not intended.

    The number of faults is not limited, because organizers are trusted.
    """

    found: Findings = field(default_factory=lambda: Findings(most=sys.maxsize))
    warned: Findings = field(default_factory=lambda: Findings(most=sys.maxsize))
    checked: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, code: str, file: str, message: str, *, line: int | None = None, column: str | None = None) -> None:
        """Add a fault."""
        self.found.add(Problem(code, message, line=line, column=column, file=file))

    def warn(self, code: str, file: str, message: str, *, line: int | None = None, column: str | None = None) -> None:
        """Add a warning, which does not prevent the truth from being used."""
        self.warned.add(Problem(code, message, line=line, column=column, file=file))

    def check(self) -> None:
        """Raise InvalidTruth if there is a fault."""
        if self.found.total:
            raise self.error

    @property
    def error(self) -> InvalidTruth:
        """An exception that contains all faults."""
        return InvalidTruth(self.found)
