"""Converts defects and warnings, as the `podium` program lists them, to problems of the bundle."""

from collections.abc import Callable
from typing import Any

from evaluator.problems import Problem


def located(listed: list[dict[str, Any]], counts: dict[str, int], place: Callable[[str | None], str]) -> list[Problem]:
    """Name the files from the bundle's top. The program shows the first of each code; the others are counted here."""
    problems = [Problem(**{**error, "file": place(error.get("file"))}) for error in listed]
    unseen = []
    for code, count in counts.items():
        files = [problem.file for problem in problems if problem.code == code]
        if count > len(files):
            more = f"and {count - len(files):,} more of this kind"
            unseen.append(Problem(code, more, file=files[0] if len(set(files)) == 1 else place(None)))
    return problems + unseen
