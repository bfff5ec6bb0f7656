"""Converts file paths in problems reported by the `podium` program to paths relative to the folder of a bundle."""

from collections.abc import Callable
from typing import Any

from evaluator.problems import Problem


def located(listed: list[dict[str, Any]], counts: dict[str, int], locate: Callable[[str | None], str]) -> list[Problem]:
    """Return the given problems, with their file paths relative to the folder of the bundle.

    The `podium` program lists only the first few problems with each code; `counts` contains their total numbers. For
    each code with unlisted problems, an additional problem states how many are not listed.
    """
    problems = [Problem(**{**error, "file": locate(error.get("file"))}) for error in listed]
    unseen = []
    for code, count in counts.items():
        files = [problem.file for problem in problems if problem.code == code]
        if count > len(files):
            more = f"and {count - len(files):,} more of this kind"
            unseen.append(Problem(code, more, file=files[0] if len(set(files)) == 1 else locate(None)))
    return problems + unseen
