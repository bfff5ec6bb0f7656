"""The ``podium`` command line. It runs commands, and converts exceptions to messages and exit codes.

Each command is a module of this package with the functions ``declare(parser)`` and ``run(arguments)``. A module is
imported only when its command is run, so ``podium tracks`` does not load numpy.
"""

import errno
import os
import sys
import traceback
from argparse import REMAINDER, Namespace
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Protocol, cast

from evaluator import __version__
from evaluator.cli.defects import print_submission_defects, print_truth_defects
from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser, WrongUsage
from evaluator.problems import (
    DamagedTruth,
    Findings,
    InvalidKit,
    InvalidParameters,
    InvalidSubmission,
    InvalidTruth,
    visible,
)

COMMANDS = {
    "tracks": "list the tracks with their files, parameters and columns",
    "check": "list every defect of a submission, without scoring it",
    "score": "score a submission against the ground truth",
    "compare": "test whether the difference between two submissions is statistically significant",
    "prepare": "compile a ground truth folder into one file that loads quickly",
    "gate": "test a ground truth and its sample submission before its phase accepts submissions",
    "reveals": "count the images that are private in one prepared ground truth and public in another",
    "verify": "check the signature and ranks of exported results and, given the ground truth, the scores",
    "check-bundle": "list every error in a challenge bundle, as an import would",
    "schema": "print the JSON Schema that editors use to check challenge.yaml: podium schema challenge",
    "convert": "convert a submission between the two CSV layouts, one row per image and one row per prediction",
    "synthesize": "generate a random ground truth folder and submissions of a chosen quality",
}


# Maps each `podium` command that communicates with a server to its module in `evaluator.client` and its help text.
SERVER_COMMANDS = {
    "login": ("accounts", "log in to a server: podium login URL"),
    "logout": ("accounts", "revoke this machine's token and delete it"),
    "whoami": ("accounts", "print which account is logged in and what its token can do"),
    "challenges": ("challenges", "list the challenges of the server"),
    "phases": ("challenges", "list the phases of a challenge"),
    "join": ("challenges", "accept the rules of a challenge and join it"),
    "submit": ("submissions", "upload a file: podium submit CHALLENGE -f FILE -m NOTE --wait"),
    "submissions": ("submissions", "list your team's submissions"),
    "submission": ("submissions", "print the status, scores or defects of a submission"),
    "leaderboard": ("leaderboards", "print a leaderboard as a table, CSV or JSON"),
    "team": ("teams", "show your team in a challenge, invite people, answer invitations, or leave"),
    "quota": ("challenges", "print how many files your team can still submit"),
    "download": ("files", "download the template submission and the other files of a phase"),
    "kit": ("files", "download the check kit of a phase, for podium check --kit"),
    "open": ("challenges", "open a page of a challenge in the browser"),
}


class Command(Protocol):
    """The interface of a module that implements a command."""

    def declare(self, parser: Parser) -> None:
        """Add the arguments of the command to its parser."""

    def run(self, arguments: Namespace) -> int:
        """Run the command, print its result and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``podium`` command line and return its exit code. Exceptions become messages and exit codes.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after ``podium``; by default, the arguments of the process.
    """
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse raises SystemExit after it has processed --help or --version.
        return int(stop.code or 0)
    except BrokenPipeError:  # The program that reads the output has exited early, for example in `podium … | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return _internal_error(error)
        print("podium: there is no space left on the disk; free some space and run the command again", file=sys.stderr)
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
    if not argv:
        parser.print_help()
        return Exit.DONE
    try:
        chosen = parser.parse_args(argv)
        command, meaning = _command(chosen.command)
        parser = Parser(prog=f"podium {chosen.command}", description=f"{meaning[0].upper()}{meaning[1:]}.")
        command.declare(parser)
        return _run_command(command, parser.parse_args(chosen.rest))
    except (WrongUsage, InvalidParameters) as error:
        print(f"{parser.prog}: {visible(str(error))}\n{parser.format_usage()}", end="", file=sys.stderr)
        return Exit.WRONG_USAGE
    except InvalidKit as error:
        print(f"{parser.prog}: {visible(str(error))}", file=sys.stderr)
        return Exit.WRONG_USAGE


def _command(name: str) -> tuple[Command, str]:
    """Import the module of a command. Return the command and its help text."""
    if name in COMMANDS:
        return cast(Command, import_module(f"{__name__}.{name.replace('-', '_')}")), COMMANDS[name]
    module, meaning = SERVER_COMMANDS[name]
    return import_module(f"evaluator.client.{module}").VERBS[name], meaning


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
    server = {name: meaning for name, (_, meaning) in SERVER_COMMANDS.items()}
    parser = Parser(
        prog="podium",
        description="Score submissions to computer-vision challenges with the metrics of the official tools.",
        epilog=f"local commands:\n{_listed(COMMANDS)}\n\nserver commands:\n{_listed(server)}",
    )
    parser.add_argument("--version", action="version", version=f"podium {__version__}")
    parser.add_argument(
        "command",
        choices=COMMANDS | server,
        metavar="COMMAND",
        help="the command to run; see `podium COMMAND --help`",
    )
    rest = parser.add_argument("rest", nargs=REMAINDER, metavar="…", help="arguments of the command")
    # If only options are given, as in `podium --json`, the error message should name only the missing command. By
    # default, argparse would also report `rest` as missing.
    rest.required = False
    return parser


def _listed(commands: Mapping[str, str]) -> str:
    width = max(map(len, COMMANDS | SERVER_COMMANDS))
    return "\n".join(f"  {name:<{width}}  {meaning}" for name, meaning in commands.items())
