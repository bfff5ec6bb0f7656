"""``podium check`` lists every defect of a submission."""

from argparse import Namespace

from evaluator.cli.defects import print_submission_defects
from evaluator.cli.progress import progress
from evaluator.cli.usage import (
    Parser,
    add_json,
    add_set,
    add_threads,
    add_track,
    existing_file,
    existing_truth,
    parameters,
)
from evaluator.request import Resources
from evaluator.scoring import check


def declare(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_track(parser)
    parser.add_argument(
        "--submission", required=True, type=existing_file, metavar="FILE", help="the submission to check"
    )
    parser.add_argument(
        "--truth",
        type=existing_truth,
        metavar="DIR",
        help="truth folder or prepared truth, to check ids of images and labels too",
    )
    add_set(parser)
    add_threads(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Check a submission and print its defects and notices."""
    with progress() as tell:
        findings = check(
            arguments.track,
            arguments.submission,
            truth=arguments.truth,
            parameters=parameters(arguments),
            resources=Resources(threads=arguments.threads, progress=tell),
        )
    return print_submission_defects(findings.for_organizer(), submission=arguments.submission, json=arguments.json)
