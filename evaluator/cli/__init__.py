"""The ``podium`` command: finds the verb, and turns what goes wrong into an exit code.

A verb is a module of this package with ``declare(parser)`` and ``run(arguments)``. It is imported when it is asked
for: ``podium tracks`` answers without loading numpy.
"""

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

VERBS = {
    "tracks": "the tracks: their files, parameters and columns",
    "check": "every defect of a submission; no score",
    "score": "score a submission against a truth",
    "compare": "tell whether one submission is better than another, or only luckier",
    "prepare": "compile a truth folder into one file that is quick to load",
    "reveals": "count the images that are private in one prepared truth and public in another",
    "convert": "turn a submission into its other shape",
    "synthesize": "make a seeded truth folder with submissions of chosen quality",
}


class Verb(Protocol):
    """What a module of this package offers."""

    def declare(self, parser: Parser) -> None:
        """Add the verb's arguments."""

    def run(self, arguments: Namespace) -> int:
        """Do it, print the answer, return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises.

    Parameters
    ----------
    argv : words after ``podium``; those of the process by default
    """
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse, after --help and --version
        return int(stop.code or 0)
    except BrokenPipeError:  # whoever read our answer had enough, as in `podium … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.READER_LEFT
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except Exception as error:
        if os.environ.get("PODIUM_DEBUG") == "1":
            traceback.print_exc()
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"podium: {visible(reason)} (PODIUM_DEBUG=1 shows where)", file=sys.stderr)
        return Exit.OUR_FAULT
    return code


def _run(argv: Sequence[str]) -> int:
    parser = _top()
    try:
        words = parser.parse_args(argv)
        verb = cast(Verb, import_module(f"{__name__}.{words.verb}"))
        parser = Parser(prog=f"podium {words.verb}", description=VERBS[words.verb].capitalize() + ".")
        verb.declare(parser)
        return _answer(verb, parser.parse_args(words.rest))
    except (WrongUsage, InvalidParameters) as error:
        print(f"{parser.prog}: {visible(str(error))}\n{parser.format_usage()}", end="", file=sys.stderr)
        return Exit.WRONG_USAGE


def _answer(verb: Verb, arguments: Namespace) -> int:
    try:
        return verb.run(arguments)
    except InvalidSubmission as error:
        return print_submission_defects(error.findings, submission=arguments.submission, json=arguments.json)
    except InvalidTruth as error:
        return print_truth_defects(error.findings, json=arguments.json)
    except DamagedTruth as error:
        return print_truth_defects(Findings.of(error.problem), json=arguments.json)


def _top() -> Parser:
    width = max(map(len, VERBS))
    parser = Parser(
        prog="podium",
        description="Score submissions to computer-vision challenges with the exact metrics of the field.",
        epilog="verbs:\n" + "\n".join(f"  {verb:<{width}}  {meaning}" for verb, meaning in VERBS.items()),
    )
    parser.add_argument("--version", action="version", version=f"podium {__version__}")
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help="what to do; `podium VERB --help` tells more")
    rest = parser.add_argument("rest", nargs=REMAINDER, metavar="…", help="arguments of the verb")
    rest.required = False  # else argparse asks for it by name when the verb is missing
    return parser
