"""``podium score``: a submission against a truth."""

import csv
import os
from argparse import Namespace
from pathlib import Path

from evaluator.catalog import TRACKS
from evaluator.cli.exits import Exit
from evaluator.cli.output import whole_file, write_json
from evaluator.cli.progress import progress
from evaluator.cli.scoreboard import print_report
from evaluator.cli.usage import (
    Parser,
    add_halves,
    add_json,
    add_set,
    add_track,
    existing_file,
    existing_truth,
    new_file,
    parameters,
    positive,
    split,
)
from evaluator.report import Report
from evaluator.scoring import score


def declare(parser: Parser) -> None:
    """Add the verb's arguments."""
    add_track(parser)
    parser.add_argument("--truth", required=True, type=existing_truth, metavar="DIR", help="folder or prepared file")
    parser.add_argument("--submission", required=True, type=existing_file, metavar="FILE", help="what to score")
    add_set(parser)
    add_halves(parser)
    add_json(parser)
    parser.add_argument(
        "--threads",
        type=positive,
        default=cores(),
        metavar="N",
        help="cores to use (default all); the score is the same",
    )
    parser.add_argument("--classes", type=new_file, metavar="FILE.csv", help="write the numbers of every class")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(arguments: Namespace) -> int:
    """Score and print."""
    with progress() as tell:
        report = score(
            arguments.track,
            arguments.truth,
            arguments.submission,
            parameters=parameters(arguments),
            usage=arguments.usage,
            split=split(arguments),
            threads=arguments.threads,
            progress=tell,
        )
    if arguments.classes:
        write_classes(report, to=arguments.classes)
    if write_json(report.as_dict(), to=arguments.json):
        print_report(report)
    return Exit.DONE


def write_classes(report: Report, *, to: Path) -> None:
    """Write one line per split and class; numbers in full, an undefined one empty."""
    with whole_file(to) as file:
        columns = ["split", "label", "name", *TRACKS[report.track].class_columns]
        rows = csv.DictWriter(file, columns, lineterminator="\n")
        rows.writeheader()
        for name, part in report.splits.items():
            rows.writerows({"split": name, **row} for row in part.classes)
