"""What can be wrong with a bundle: the same kind of problem that files of submissions and truths have."""

from collections.abc import Iterable

from evaluator.problems import Problem

SHEET = "challenge.yaml"


class InvalidBundle(Exception):
    """The bundle is at fault; its organizer can mend it. Everything that was found is listed, nothing was written."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        count = len(self.problems)
        super().__init__(f"{count} {'mistake' if count == 1 else 'mistakes'} in the bundle")

    @property
    def is_truth_fault(self) -> bool:
        """Whether the challenge itself is well described and only its truth is not."""
        return all(problem.code.startswith("truth_") for problem in self.problems)


class Mistakes:
    """Collects what is wrong, so that one reading tells all of it."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def add(self, code: str, message: str, *, file: str = SHEET, line: int | None = None) -> None:
        self._problems.append(Problem(code, message, line=line, file=file))

    def error(self) -> InvalidBundle:
        """Return what was found, the sheet first, in the order of its lines."""
        return InvalidBundle(sorted(self._problems, key=lambda p: (p.file != SHEET, p.file or "", p.line or 0)))

    def stop_if_any(self) -> None:
        if self._problems:
            raise self.error()
