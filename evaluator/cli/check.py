"""Implements ``podium check``, which lists every defect of a submission."""

import sys
from argparse import ArgumentTypeError, Namespace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluator import __version__
from evaluator.catalog import TRACKS
from evaluator.cli.defects import print_submission_defects
from evaluator.cli.exits import Exit
from evaluator.cli.progress import progress
from evaluator.cli.usage import (
    Parser,
    WrongUsage,
    add_json,
    add_set,
    add_threads,
    existing_file,
    existing_truth,
    parameters,
    suggestion,
)
from evaluator.kit import Kit
from evaluator.problems import Findings
from evaluator.request import Progress, Resources
from evaluator.scoring import check, check_with_kit


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium check`` to its parser."""
    parser.add_argument(
        "what", nargs="?", metavar="TRACK", help=f"{', '.join(TRACKS)}; with --kit or --challenge, the file to check"
    )
    parser.add_argument("--submission", type=existing_file, metavar="FILE", help="the submission to check")
    known = parser.add_mutually_exclusive_group()
    known.add_argument(
        "--kit",
        type=existing_file,
        metavar="FILE",
        help="check kit of a phase; with it, the check finds every defect that the server would find",
    )
    known.add_argument(
        "--truth",
        type=existing_truth,
        metavar="DIR",
        help="ground truth folder or prepared ground truth, to check the ids of images and labels as well",
    )
    known.add_argument("--challenge", metavar="CHALLENGE", help="fetch the check kit of this challenge from its server")
    parser.add_argument("--phase", metavar="PHASE", help="with --challenge: the phase (default: the only open one)")
    parser.add_argument("--server", metavar="URL", help="with --challenge: the server (default: the last login)")
    parser.add_argument(
        "--force",
        action="store_true",
        help="with --kit: accept a file in which no prediction can earn a score, as podium submit --force does",
    )
    add_set(parser)
    add_threads(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Check a submission and print its defects and notices."""
    if arguments.challenge:
        return _check_with_fetched_kit(arguments)
    arguments.track = arguments.what
    if arguments.kit and arguments.what and not arguments.submission:
        _take_file(arguments)
    if arguments.track not in (None, *TRACKS):
        if Path(arguments.track).is_file():
            raise WrongUsage(
                "specify how to check the file: add --challenge CHALLENGE, --kit FILE, or TRACK --submission"
            )
        hint = suggestion(arguments.track, TRACKS) or f" (choose from {', '.join(TRACKS)})"
        raise WrongUsage(f"there is no track {arguments.track!r}{hint}")
    if not arguments.submission:
        raise WrongUsage("the following arguments are required: --submission")
    if not (arguments.kit or arguments.track):
        raise WrongUsage("specify the TRACK of the submission, or --kit or --challenge")
    with progress() as tell:
        findings = _check_with_kit(arguments, tell) if arguments.kit else _check(arguments, tell)
    return print_submission_defects(findings, submission=arguments.submission, json=arguments.json)


def _check_with_fetched_kit(arguments: Namespace) -> int:
    if not (arguments.submission or arguments.what):
        raise WrongUsage("specify the file: podium check --challenge CHALLENGE FILE")
    _take_file(arguments)
    # The module evaluator.client.files imports httpx, which is only needed to download a check kit.
    client = import_module("evaluator.client.files")
    with TemporaryDirectory() as folder, progress() as tell:
        arguments.kit = Path(folder) / "kit.json"
        code = int(client.fetch_kit(arguments, arguments.kit))
        if code != Exit.DONE:
            return code
        findings = _check_with_kit(arguments, tell)
    return print_submission_defects(findings, submission=arguments.submission, json=arguments.json)


def _take_file(arguments: Namespace) -> None:
    """Use the positional argument of ``podium check`` as the submission file, unless --submission is given.

    This function is called if the submission is checked with a check kit, a file with everything needed to check
    submissions to a phase. The kit contains the track. Without a kit, the positional argument is the name of the track.
    """
    try:
        arguments.submission, arguments.track = arguments.submission or existing_file(arguments.what), None
    except ArgumentTypeError as error:
        raise WrongUsage(str(error)) from None


def _check(arguments: Namespace, tell: Progress) -> Findings:
    findings = check(
        arguments.track,
        arguments.submission,
        truth=arguments.truth,
        parameters=parameters(arguments),
        resources=Resources(threads=arguments.threads, progress=tell),
    )
    return findings.for_organizer()


def _check_with_kit(arguments: Namespace, tell: Progress) -> Findings:
    kit = Kit.load(arguments.kit)
    if arguments.track not in (None, kit.track.name):
        raise WrongUsage(f"{arguments.kit} is a kit for {kit.track.name}, not for {arguments.track}")
    if arguments.set:
        raise WrongUsage("the kit contains the parameters; remove --set")
    if kit.evaluator != __version__:
        versions = f"the kit was written by podium {kit.evaluator}, but this is podium {__version__}"
        print(f"podium check: {versions}; the server may find different defects", file=sys.stderr)
    return check_with_kit(kit, arguments.submission, force=arguments.force, threads=arguments.threads, progress=tell)
