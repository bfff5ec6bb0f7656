"""``podium check``: every defect of a submission."""

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
from evaluator.scoring import check


def declare(parser: Parser) -> None:
    """Add the verb's arguments."""
    add_track(parser)
    parser.add_argument("--submission", required=True, type=existing_file, metavar="FILE", help="what to check")
    parser.add_argument(
        "--truth", type=existing_truth, metavar="DIR", help="folder or prepared file that knows the images and labels"
    )
    add_set(parser)
    add_threads(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Check and print."""
    with progress() as tell:
        findings = check(
            arguments.track,
            arguments.submission,
            truth=arguments.truth,
            parameters=parameters(arguments),
            threads=arguments.threads,
            progress=tell,
        )
    return print_submission_defects(findings.for_holder(), submission=arguments.submission, json=arguments.json)
