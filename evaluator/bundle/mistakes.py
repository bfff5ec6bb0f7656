"""Collects the errors and warnings of a bundle. Both are `Problem` objects, as for submissions and ground truths."""

from collections.abc import Iterable

from evaluator.problems import Problem

SHEET = "challenge.yaml"


class InvalidBundle(Exception):
    """Raised if a bundle has errors that its organizer can fix. The exception contains all errors and warnings."""

    def __init__(self, problems: Iterable[Problem], warnings: Iterable[Problem] = ()) -> None:
        self.problems = list(problems)
        self.warnings = list(warnings)
        count = len(self.problems)
        super().__init__(f"{count} {'error' if count == 1 else 'errors'} in the bundle")

    @property
    def is_truth_fault(self) -> bool:
        """Whether all errors of the bundle are in its ground truths."""
        return all(problem.code.startswith("truth_") for problem in self.problems)


def ignore(message: object) -> None:
    """Ignore a message. This is the default for callbacks that report messages."""


class Mistakes:
    """Collects the errors and warnings of a bundle. If `strict` is true, every warning counts as an error."""

    def __init__(self, *, strict: bool = False) -> None:
        self._problems: list[Problem] = []
        self._warnings = self._problems if strict else []

    def add(
        self, code: str, message: str, *, file: str = SHEET, line: int | None = None, key: str | None = None
    ) -> None:
        """Add an error, which prevents the import of the bundle. ``key`` is the path of a key in challenge.yaml."""
        self.extend([Problem(code, message, line=line, column=key, file=file)])

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add several errors, which prevent the import of the bundle."""
        self._problems += problems

    def warn(
        self, code: str, message: str, *, file: str = SHEET, line: int | None = None, key: str | None = None
    ) -> None:
        """Add a warning about content of the bundle that can be imported but was probably not intended."""
        self.extend_warnings([Problem(code, message, line=line, column=key, file=file)])

    def extend_warnings(self, problems: Iterable[Problem]) -> None:
        """Add several warnings about the bundle. They count as errors in strict mode."""
        self._warnings += problems

    @property
    def found(self) -> bool:
        """Whether at least one error has been added."""
        return bool(self._problems)

    @property
    def warnings(self) -> list[Problem]:
        """The warnings sorted by file and line, beginning with challenge.yaml. Empty if warnings count as errors."""
        return [] if self._warnings is self._problems else sorted(self._warnings, key=_position)

    def error(self) -> InvalidBundle:
        """Return an exception with all errors and warnings, sorted by file and line, beginning with challenge.yaml."""
        return InvalidBundle(sorted(self._problems, key=_position), self.warnings)

    def stop_if_any(self) -> None:
        """Raise InvalidBundle if any error has been added."""
        if self._problems:
            raise self.error()


def _position(problem: Problem) -> tuple[bool, str, int]:
    return problem.file != SHEET, problem.file or "", problem.line or 0
