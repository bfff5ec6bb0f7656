"""Collects mistakes and warnings of a bundle, with the class that describes problems of submissions and truths."""

from collections.abc import Iterable

from evaluator.problems import Problem

SHEET = "challenge.yaml"


class InvalidBundle(Exception):
    """The bundle has mistakes that its organizer can fix. All of them are listed, and nothing was written."""

    def __init__(self, problems: Iterable[Problem], warnings: Iterable[Problem] = ()) -> None:
        self.problems = list(problems)
        self.warnings = list(warnings)
        count = len(self.problems)
        super().__init__(f"{count} {'mistake' if count == 1 else 'mistakes'} in the bundle")

    @property
    def is_truth_fault(self) -> bool:
        """Whether all mistakes are in the ground truth and none is in any other file."""
        return all(problem.code.startswith("truth_") for problem in self.problems)


def ignore(message: object) -> None:
    """Do nothing with a message: the default where a caller can pass a function for messages."""


class Mistakes:
    """The mistakes and warnings that were found so far. With `strict` every warning is a mistake."""

    def __init__(self, *, strict: bool = False) -> None:
        self._problems: list[Problem] = []
        self._warnings = self._problems if strict else []

    def add(self, code: str, message: str, *, file: str = SHEET, line: int | None = None) -> None:
        """Add a mistake. A bundle with a mistake is not imported."""
        self.extend([Problem(code, message, line=line, file=file)])

    def extend(self, problems: Iterable[Problem]) -> None:
        self._problems += problems

    def warn(self, code: str, message: str, *, file: str = SHEET, line: int | None = None) -> None:
        """Add a warning about something that can be imported but was probably not intended."""
        self.extend_warnings([Problem(code, message, line=line, file=file)])

    def extend_warnings(self, problems: Iterable[Problem]) -> None:
        self._warnings += problems

    @property
    def warnings(self) -> list[Problem]:
        """The warnings, those of challenge.yaml first, by line. Empty with `strict`, which makes them mistakes."""
        return [] if self._warnings is self._problems else sorted(self._warnings, key=_position)

    def error(self) -> InvalidBundle:
        """Return an exception with everything that was found, challenge.yaml first, by line."""
        return InvalidBundle(sorted(self._problems, key=_position), self.warnings)

    def stop_if_any(self) -> None:
        if self._problems:
            raise self.error()


def _position(problem: Problem) -> tuple[bool, str, int]:
    return problem.file != SHEET, problem.file or "", problem.line or 0
