"""Prints defects in submissions and faults in ground truths, one per line, in the format of compiler messages."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from evaluator.cli.exits import Exit
from evaluator.cli.output import TextStyle, write_json
from evaluator.problems import Findings, Notice, Problem, visible


def print_submission_defects(
    findings: Findings, *, submission: Path, json: Path | None, stream: TextIO | None = None
) -> int:
    """Print the defects and notices of a submission, and return the exit code."""
    if write_json(findings.as_dict(), to=json):
        _print(findings, name=str(submission), stream=stream or sys.stdout)
        print_notices(findings.notices, stream=stream or sys.stdout)
    return Exit.INVALID_SUBMISSION if findings.total else Exit.DONE


def print_truth_defects(findings: Findings, *, json: Path | None) -> int:
    """Print the faults of a ground truth, and return the exit code."""
    errors = [problem.as_dict() | {"file": problem.file} for problem in findings.errors]
    if write_json(findings.as_dict() | {"errors": errors}, to=json):
        _print(findings, name="truth", stream=sys.stdout)
    return Exit.INVALID_TRUTH


def print_warnings(warnings: Findings, *, stream: TextIO | None = None) -> None:
    """Print the warnings about a ground truth. By default, they are printed to standard error."""
    stream = stream or sys.stderr
    style = TextStyle(stream)
    for code, count in warnings.counts.items():
        shown = [problem for problem in warnings.errors if problem.code == code]
        for problem in shown:
            print(f"warning: {_line(problem, name='truth', style=style)}", file=stream)
        if count > len(shown):
            print(style.faint(f"  … and {count - len(shown):,} more {code}"), file=stream)


def print_notices(notices: Sequence[Notice], *, stream: TextIO) -> None:
    """Print the notices about a submission."""
    style = TextStyle(stream)
    for notice in notices:
        times = f" ({notice.count:,} times)" if notice.count > 1 else ""
        print(style.faint(f"notice: {notice.code}: {visible(notice.message)}{times}"), file=stream)


def _print(findings: Findings, *, name: str, stream: TextIO) -> None:
    style, more = TextStyle(stream), "at least " * findings.more
    for code, count in findings.counts.items():
        shown = [problem for problem in findings.errors if problem.code == code]
        for problem in shown:
            print(_line(problem, name=name, style=style), file=stream)
        if count > len(shown):
            print(style.faint(f"  … and {count - len(shown):,} more {code}"), file=stream)
    total = findings.total
    if total:
        kinds = ", ".join(f"{count:,} {code}" for code, count in findings.counts.items())
        print(style.bold(f"{more}{total:,} {'defect' if total == 1 else 'defects'}: {kinds}"), file=stream)
        if more:
            print("the rest of the file was not read; fix these defects and check again", file=stream)
    else:
        print(f"{name}: no defects", file=stream)


def _line(problem: Problem, *, name: str, style: TextStyle) -> str:
    location = problem.file or name
    if problem.line is not None:
        location = f"{location}:{problem.line}"
    found = {"column": problem.column, "token": problem.token, "image": problem.image}
    detail = ", ".join(f"{word} {value}" for word, value in found.items() if value is not None)
    text = visible(f"{problem.message} ({detail})" if detail else problem.message)
    return f"{visible(location)}: {style.red(problem.code)}: {text}"
