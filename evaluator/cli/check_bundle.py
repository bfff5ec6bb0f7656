"""Implements ``podium check-bundle``, which lists all errors that an import of a challenge bundle would report."""

import json
import subprocess
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evaluator.bundle import InvalidBundle, Mistakes, opened, read_with_mistakes
from evaluator.bundle.checking import check_files
from evaluator.bundle.dates import report_opening
from evaluator.bundle.declared import BundlePhase
from evaluator.bundle.gates import Tested, gate_warnings, run_gate
from evaluator.bundle.salts import report_salts, with_example_salts
from evaluator.bundle.truths import PreparedTruth, prepare
from evaluator.cli.exits import Exit
from evaluator.cli.output import TextStyle, write_json
from evaluator.cli.usage import Parser, add_json
from evaluator.problems import Problem, visible

AT_FAULT = (Exit.DONE, Exit.INVALID_SUBMISSION, Exit.INVALID_TRUTH)


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium check-bundle`` to its parser."""
    parser.add_argument("bundle", type=_existing, metavar="BUNDLE", help="folder or zip file with challenge.yaml")
    parser.add_argument("--strict", action="store_true", help="treat every warning as an error")
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Check a bundle and print its errors and warnings."""
    problems, warnings = check_bundle(arguments.bundle, strict=arguments.strict)
    answer = {
        "errors": [problem.as_dict() for problem in problems],
        "warnings": [problem.as_dict() for problem in warnings],
        "total": len(problems),
    }
    if write_json(answer, to=arguments.json):
        _print(problems, warnings)
    if not problems:
        return Exit.DONE
    in_truth = all(problem.code.startswith("truth_") for problem in problems)
    return Exit.INVALID_TRUTH if in_truth else Exit.INVALID_SUBMISSION


def check_bundle(path: Path, *, strict: bool = False) -> tuple[list[Problem], list[Problem]]:
    """Return the errors and the warnings of a bundle. If ``strict`` is true, warnings count as errors."""
    mistakes = Mistakes(strict=strict)
    try:
        with opened(path) as folder, TemporaryDirectory(prefix="check-") as workspace:
            bundle = with_example_salts(read_with_mistakes(folder, mistakes))
            report_salts(bundle, mistakes)
            check_files(bundle.phases, lambda phase: _tested(phase, Path(workspace)), _podium, mistakes)
            if not (bundle.opens_at or mistakes.found):
                report_opening(bundle, datetime.now(UTC), mistakes)
            mistakes.stop_if_any()
    except InvalidBundle as error:
        return error.problems, error.warnings
    return [], mistakes.warnings


def _tested(phase: BundlePhase, workspace: Path) -> PreparedTruth:
    """Prepare and return the ground truth of a phase.

    Its warnings include failed checks of the gate, which a phase must pass before it accepts submissions.
    """
    made = prepare(phase, workspace, _podium)
    gate = run_gate(Tested(phase.track, phase.parameters, made.compiled, made.sample), _podium)
    return replace(made, warnings=[*made.warnings, *gate_warnings(gate, phase)])


def _podium(*words: str) -> dict[str, Any]:
    """Run a ``podium`` command in a separate process, whose memory is then freed, and return its JSON output."""
    command = [sys.executable, "-m", "evaluator", *words, "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode not in AT_FAULT:
        raise RuntimeError(f"podium {words[0]} exited with {ended.returncode}: {ended.stderr.strip()[-2000:]}")
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def _print(problems: Sequence[Problem], warnings: Sequence[Problem]) -> None:
    style = TextStyle(sys.stdout)
    for problem in warnings:
        print(f"{_place(problem)}: warning: {problem.code} {visible(problem.message)}")
    for problem in problems:
        print(f"{_place(problem)}: {style.red(problem.code)} {visible(problem.message)}")
    count = f"{len(problems)} {'error' if len(problems) == 1 else 'errors'}" if problems else "no errors"
    print(f"{count}, {len(warnings)} {'warning' if len(warnings) == 1 else 'warnings'}")


def _place(problem: Problem) -> str:
    """Return the file, line and key of a problem in the format of compiler messages, separated by colons."""
    parts = (problem.file, problem.line, problem.column)
    return visible(":".join(str(part) for part in parts if part is not None))


def _existing(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise ArgumentTypeError(f"no such file or folder: {text}")
    return path
