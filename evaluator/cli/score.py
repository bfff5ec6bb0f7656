"""``podium score``: a submission against a truth."""

import csv
from argparse import Namespace
from pathlib import Path

from evaluator.catalog import TRACKS
from evaluator.cli.exits import Exit
from evaluator.cli.output import whole_file, write_json
from evaluator.cli.progress import progress
from evaluator.cli.reference_lines import check_reference_lines, write_reference_lines
from evaluator.cli.report_files import write_curves, write_matches
from evaluator.cli.scoreboard import print_report
from evaluator.cli.usage import (
    Parser,
    add_halves,
    add_json,
    add_set,
    add_threads,
    add_track,
    existing_file,
    existing_truth,
    new_file,
    parameters,
    positive,
    refuse_idle_seed,
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
    parser.add_argument(
        "--bootstrap",
        type=positive,
        metavar="N",
        help="95%% intervals from N replicates of the images, such as 1000",
    )
    add_json(parser)
    add_threads(parser)
    parser.add_argument("--classes", type=new_file, metavar="FILE.csv", help="write the numbers of every class")
    parser.add_argument(
        "--explain", action="store_true", help="also tell where the score was lost: kinds of errors, slices, ablation"
    )
    parser.add_argument(
        "--curves", type=new_file, metavar="FILE.json", help="write the precision/recall curve of every class"
    )
    parser.add_argument(
        "--matches",
        type=new_file,
        metavar="FILE.csv",
        help="explain, and write what became of each prediction and of each missed object",
    )
    parser.add_argument(
        "--tf-csv", type=new_file, metavar="FILE.csv", help="write the lines that the official tool would write"
    )


def run(arguments: Namespace) -> int:
    """Score and print."""
    refuse_idle_seed(arguments, "split", "bootstrap")
    if arguments.tf_csv:
        check_reference_lines(arguments.track, parameters(arguments))
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
            bootstrap=arguments.bootstrap or 0,
            seed=arguments.seed or 0,
            curves=arguments.curves is not None,
            explain=arguments.explain or arguments.matches is not None,
        ).for_holder()
    if arguments.classes:
        write_classes(report, to=arguments.classes)
    if arguments.curves:
        write_curves(report, to=arguments.curves)
    if arguments.matches:
        write_matches(report, to=arguments.matches)
    if arguments.tf_csv:
        write_reference_lines(report, to=arguments.tf_csv)
    if write_json(report.as_dict(), to=arguments.json):
        print_report(report)
    return Exit.DONE


def write_classes(report: Report, *, to: Path) -> None:
    """Write one line per split and class; numbers in full, an undefined one empty."""
    with whole_file(to) as file:
        declared = ["split", "label", "name", *(column.name for column in TRACKS[report.track].class_columns)]
        rows = [{"split": name, **row} for name, part in report.splits.items() for row in part.classes]
        table = csv.DictWriter(file, dict.fromkeys([*declared, *(rows[0] if rows else ())]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
