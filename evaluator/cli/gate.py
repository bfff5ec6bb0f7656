"""Implements ``podium gate``, which tests a ground truth and a sample submission before a phase accepts submissions."""

import sys
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluator import __version__
from evaluator.catalog import GATE_CHECKS
from evaluator.cli.exits import Exit
from evaluator.cli.output import TextStyle, write_json
from evaluator.cli.usage import (
    STDOUT,
    Parser,
    add_json,
    add_limits,
    add_set,
    add_split_options,
    add_threads,
    add_track,
    check_seed_is_used,
    existing_file,
    existing_truth,
    limits,
    parameters,
    truth_options,
)
from evaluator.gate import CheckResult, Trial, run_checks
from evaluator.request import Resources
from evaluator.scoring import prepare

ADVICE = {check.name: check.advice for check in GATE_CHECKS}


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium gate`` to its parser."""
    add_track(parser)
    parser.add_argument(
        "--truth",
        required=True,
        type=existing_truth,
        metavar="PATH",
        help="the ground truth folder or prepared ground truth",
    )
    parser.add_argument(
        "--sample",
        type=existing_file,
        metavar="FILE",
        help="the sample submission that participants download; without it, a template submission is tested",
    )
    add_set(parser)
    add_split_options(parser)
    add_limits(parser)
    add_threads(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Run the gate, a set of checks of a ground truth, and print each result as soon as it is known."""
    check_seed_is_used(arguments, "split")
    with TemporaryDirectory(prefix="podium-gate-") as workspace:
        trial = Trial(
            arguments.track,
            _prepared(arguments, Path(workspace)),
            parameters(arguments),
            Path(workspace),
            sample=arguments.sample,
            resources=Resources(limits=limits(arguments), threads=arguments.threads),
        )
        results = []
        for result in run_checks(trial):
            results.append(result)
            if arguments.json != STDOUT:
                _print(result)
    is_green = all(result.passed for result in results)
    answer = {"evaluator": __version__, "green": is_green, "checks": [result.as_dict() for result in results]}
    write_json(answer, to=arguments.json)
    return Exit.DONE if is_green else Exit.INVALID_TRUTH


def _prepared(arguments: Namespace, workspace: Path) -> Path:
    """Return the path of the prepared ground truth. If --truth is a folder, prepare it in the workspace."""
    if arguments.truth.is_file():
        return Path(arguments.truth)
    path = workspace / "truth.podium"
    prepare(
        arguments.track,
        arguments.truth,
        path,
        parameters=parameters(arguments),
        opening=truth_options(arguments),
    )
    return path


def _print(result: CheckResult) -> None:
    style = TextStyle(sys.stdout)
    print(f"{result.name}: {'green' if result.passed else style.red('red')}: {result.got}", flush=True)
    if not result.passed:
        print(f"  expected: {result.expected}\n  {ADVICE[result.name]}", flush=True)
