"""Converts the problems that the `podium` program reports for one file to problems with paths inside a bundle."""

from collections.abc import Callable
from typing import Any

from evaluator.problems import Problem


def located(listed: list[dict[str, Any]], counts: dict[str, int], locate: Callable[[str | None], str]) -> list[Problem]:
    """Return the given problems with file paths inside the bundle.

    The `podium` program lists only the first few problems with each code. If some problems are not listed, their number
    is added as one more problem.
    """
    problems = [Problem(**{**error, "file": locate(error.get("file"))}) for error in listed]
    unseen = []
    for code, count in counts.items():
        files = [problem.file for problem in problems if problem.code == code]
        if count > len(files):
            more = f"and {count - len(files):,} more of this kind"
            unseen.append(Problem(code, more, file=files[0] if len(set(files)) == 1 else locate(None)))
    return problems + unseen
