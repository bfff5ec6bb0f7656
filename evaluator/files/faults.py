"""Faults and warnings of a truth; all of them are collected and reported together."""

import sys
from dataclasses import dataclass, field

from evaluator.problems import Findings, InvalidTruth, Problem


@dataclass(slots=True)
class Faults:
    """Collects the faults of a folder, and the warnings: what can be scored but was probably not intended.

    All of them are counted, since an organizer's file is not hostile.
    """

    found: Findings = field(default_factory=lambda: Findings(most=sys.maxsize))
    warned: Findings = field(default_factory=lambda: Findings(most=sys.maxsize))
    checked: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, code: str, file: str, message: str, *, line: int | None = None, column: str | None = None) -> None:
        """Note one fault."""
        self.found.add(Problem(code, message, line=line, column=column, file=file))

    def warn(self, code: str, file: str, message: str, *, line: int | None = None, column: str | None = None) -> None:
        """Note one warning; the truth stays usable."""
        self.warned.add(Problem(code, message, line=line, column=column, file=file))

    def check(self) -> None:
        """Raise InvalidTruth where anything was noted."""
        if self.found.total:
            raise self.error

    @property
    def error(self) -> InvalidTruth:
        """Everything that was noted."""
        return InvalidTruth(self.found)
