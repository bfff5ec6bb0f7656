"""The ``podium`` command line: runs a command, and converts exceptions to messages and exit codes.

A command is a module of this package with ``declare(parser)`` and ``run(arguments)``. It is imported only when it is
run, so ``podium tracks`` does not load numpy.
"""

import errno
import os
import sys
import traceback
from argparse import REMAINDER, Namespace
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from evaluator import __version__
from evaluator.cli.defects import print_submission_defects, print_truth_defects
from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser, WrongUsage
from evaluator.problems import DamagedTruth, Findings, InvalidParameters, InvalidSubmission, InvalidTruth, visible

COMMANDS = {
    "tracks": "list the tracks with their files, parameters and columns",
    "check": "list every defect of a submission, without scoring it",
    "score": "score a submission against the ground truth",
    "compare": "test whether the difference between two submissions is statistically significant",
    "prepare": "compile a truth folder to one file that loads quickly",
    "reveals": "count the images that are private in one prepared truth and public in another",
    "convert": "convert a submission between its two CSV shapes",
    "synthesize": "generate a truth folder and submissions of chosen quality from a seed",
}


class Command(Protocol):
    """The interface of a module that implements a command."""

    def declare(self, parser: Parser) -> None:
        """Add the arguments of the command."""

    def run(self, arguments: Namespace) -> int:
        """Run the command, print its result and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; no exception is raised.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after ``podium``; those of the process by default.
    """
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except SystemExit as stop:  # Raised by argparse after --help and --version.
        return int(stop.code or 0)
    except BrokenPipeError:  # The reader of the output has closed it, as in `podium … | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return _internal_error(error)
        print("podium: there is no space left on the disk; free some and run the same command again", file=sys.stderr)
        return Exit.NO_SPACE
    except Exception as error:
        return _internal_error(error)
    return code


def _internal_error(error: Exception) -> int:
    if os.environ.get("PODIUM_DEBUG") == "1":
        traceback.print_exc()
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"podium: {visible(reason)} (set PODIUM_DEBUG=1 for a traceback)", file=sys.stderr)
    return Exit.INTERNAL_ERROR


def _run(argv: Sequence[str]) -> int:
    parser = _command_parser()
    try:
        chosen = parser.parse_args(argv)
        command = cast(Command, import_module(f"{__name__}.{chosen.command}"))
        parser = Parser(prog=f"podium {chosen.command}", description=COMMANDS[chosen.command].capitalize() + ".")
        command.declare(parser)
        return _run_command(command, parser.parse_args(chosen.rest))
    except (WrongUsage, InvalidParameters) as error:
        print(f"{parser.prog}: {visible(str(error))}\n{parser.format_usage()}", end="", file=sys.stderr)
        return Exit.WRONG_USAGE


def _run_command(command: Command, arguments: Namespace) -> int:
    try:
        return command.run(arguments)
    except InvalidSubmission as error:
        return print_submission_defects(error.findings, submission=arguments.submission, json=arguments.json)
    except InvalidTruth as error:
        return print_truth_defects(error.findings, json=arguments.json)
    except DamagedTruth as error:
        return print_truth_defects(Findings.of(error.problem), json=arguments.json)


def _command_parser() -> Parser:
    width = max(map(len, COMMANDS))
    parser = Parser(
        prog="podium",
        description="Score submissions to computer-vision challenges with the exact metrics of the field.",
        epilog="commands:\n" + "\n".join(f"  {name:<{width}}  {meaning}" for name, meaning in COMMANDS.items()),
    )
    parser.add_argument("--version", action="version", version=f"podium {__version__}")
    parser.add_argument(
        "command", choices=COMMANDS, metavar="COMMAND", help="the command to run; see `podium COMMAND --help`"
    )
    rest = parser.add_argument("rest", nargs=REMAINDER, metavar="…", help="arguments of the command")
    rest.required = False  # Otherwise argparse also names this argument if the command is missing.
    return parser
