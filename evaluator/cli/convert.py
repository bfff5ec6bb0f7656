"""Implements ``podium convert``, which converts a submission between its two CSV layouts."""

import sys
from argparse import Namespace

from evaluator.cli.defects import print_submission_defects
from evaluator.cli.exits import Exit
from evaluator.cli.output import atomic_file
from evaluator.cli.usage import Parser, WrongUsage, add_track, existing_file, new_file
from evaluator.files.conversion import convert
from evaluator.problems import InvalidSubmission


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium convert`` to its parser."""
    add_track(parser)
    parser.add_argument(
        "--to",
        required=True,
        choices=("kaggle", "long"),
        help="kaggle: prediction strings; long: one row per prediction",
    )
    parser.add_argument("source", type=existing_file, metavar="FILE", help="a submission in either layout")
    parser.add_argument("out", nargs="?", type=new_file, metavar="OUT", help="output file (default: standard output)")


def run(arguments: Namespace) -> int:
    """Convert a submission. Defects are printed to standard error, because the output file can be standard output."""
    try:
        if arguments.out is None:
            convert(arguments.track, arguments.to, arguments.source, sys.stdout)
            return Exit.DONE
        if arguments.out.suffix == ".gz":
            raise WrongUsage(f"podium convert writes uncompressed files; use the name {arguments.out.stem}")
        with atomic_file(arguments.out) as file:
            convert(arguments.track, arguments.to, arguments.source, file)
    except InvalidSubmission as error:
        return print_submission_defects(error.findings, submission=arguments.source, json=None, stream=sys.stderr)
    return Exit.DONE
