"""Mistakes and warnings of a bundle: the same kind of problem that files of submissions and truths have."""

from collections.abc import Iterable

from evaluator.problems import Problem

SHEET = "challenge.yaml"


class InvalidBundle(Exception):
    """The bundle is at fault; its organizer can fix it. Everything that was found is listed, nothing was written."""

    def __init__(self, problems: Iterable[Problem], warnings: Iterable[Problem] = ()) -> None:
        self.problems = list(problems)
        self.warnings = list(warnings)
        count = len(self.problems)
        super().__init__(f"{count} {'mistake' if count == 1 else 'mistakes'} in the bundle")

    @property
    def is_truth_fault(self) -> bool:
        """Whether the challenge itself is well described and only its truth is not."""
        return all(problem.code.startswith("truth_") for problem in self.problems)


def unheard(said: object) -> None:
    """Drop what is reported."""


class Mistakes:
    """Collects everything that is wrong with a bundle, and the warnings; `strict` makes every warning a mistake."""

    def __init__(self, *, strict: bool = False) -> None:
        self._problems: list[Problem] = []
        self._warnings = self._problems if strict else []

    def add(self, code: str, message: str, *, file: str = SHEET, line: int | None = None) -> None:
        """Note a mistake: nothing will be imported."""
        self.extend([Problem(code, message, line=line, file=file)])

    def extend(self, problems: Iterable[Problem]) -> None:
        self._problems += problems

    def warn(self, code: str, message: str, *, file: str = SHEET, line: int | None = None) -> None:
        """Note what can be imported but was probably not intended."""
        self.extend_warnings([Problem(code, message, line=line, file=file)])

    def extend_warnings(self, problems: Iterable[Problem]) -> None:
        self._warnings += problems

    @property
    def warnings(self) -> list[Problem]:
        """The warnings, the sheet's first, in the order of its lines; none where they are mistakes."""
        return [] if self._warnings is self._problems else sorted(self._warnings, key=_place)

    def error(self) -> InvalidBundle:
        """Return what was found, the sheet first, in the order of its lines."""
        return InvalidBundle(sorted(self._problems, key=_place), self.warnings)

    def stop_if_any(self) -> None:
        if self._problems:
            raise self.error()


def _place(problem: Problem) -> tuple[bool, str, int]:
    return problem.file != SHEET, problem.file or "", problem.line or 0
