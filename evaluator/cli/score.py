"""Implements ``podium score``, which scores a submission against a ground truth."""

import csv
from argparse import Namespace
from pathlib import Path

from evaluator.catalog import TRACKS
from evaluator.cli.exits import Exit
from evaluator.cli.match_files import matches_file, write_matches
from evaluator.cli.output import atomic_file, write_json
from evaluator.cli.progress import progress
from evaluator.cli.reference_lines import check_reference_lines, write_reference_lines
from evaluator.cli.report_files import write_curves, write_report_page
from evaluator.cli.scoreboard import print_report
from evaluator.cli.usage import (
    Parser,
    add_json,
    add_set,
    add_split_options,
    add_threads,
    add_track,
    check_seed_is_used,
    existing_file,
    existing_truth,
    new_file,
    parameters,
    positive,
    scoring_request,
)
from evaluator.report import Report
from evaluator.request import Bootstrap, ReportOptions
from evaluator.scoring import score


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium score`` to its parser."""
    add_track(parser)
    parser.add_argument(
        "--truth",
        required=True,
        type=existing_truth,
        metavar="DIR",
        help="ground truth folder or prepared ground truth",
    )
    parser.add_argument(
        "--submission", required=True, type=existing_file, metavar="FILE", help="the submission to score"
    )
    add_set(parser)
    add_split_options(parser)
    parser.add_argument(
        "--bootstrap",
        type=positive,
        metavar="N",
        help="95%% intervals from N bootstrap replicates, such as 1000",
    )
    add_json(parser)
    add_threads(parser)
    parser.add_argument("--classes", type=new_file, metavar="FILE.csv", help="write the metrics of every class")
    parser.add_argument(
        "--explain", action="store_true", help="also explain the score: kinds of errors, slices, ablation"
    )
    parser.add_argument(
        "--curves", type=new_file, metavar="FILE.json", help="write the precision/recall curve of every class"
    )
    parser.add_argument(
        "--matches",
        type=matches_file,
        metavar="FILE.csv",
        help="explain the score, and write the outcome of each prediction and each missed object, as CSV or as "
        "Parquet (FILE.parquet)",
    )
    parser.add_argument(
        "--report",
        type=new_file,
        metavar="FILE.html",
        help="explain the score, and write the report as one HTML file, as the server shows it",
    )
    parser.add_argument(
        "--tf-csv", type=new_file, metavar="FILE.csv", help="write the scores in the format of the official tool"
    )


def run(arguments: Namespace) -> int:
    """Score a submission, write the requested output files, and print the report."""
    check_seed_is_used(arguments, "split", "bootstrap")
    if arguments.tf_csv:
        check_reference_lines(arguments.track, parameters(arguments))
    options = ReportOptions(
        curves=arguments.curves is not None or arguments.report is not None,
        explanation=arguments.explain or (arguments.report is not None and explains(arguments.track)),
        matches=arguments.matches is not None,
        bootstrap=Bootstrap(arguments.bootstrap, arguments.seed or 0) if arguments.bootstrap else None,
    )
    with progress() as tell:
        report = score(scoring_request(arguments, arguments.submission, options, tell)).for_organizer()
        if arguments.matches:
            write_matches(report, to=arguments.matches)
    if arguments.classes:
        write_classes(report, to=arguments.classes)
    if arguments.curves:
        write_curves(report, to=arguments.curves)
    if arguments.report:
        write_report_page(report, submission=arguments.submission, to=arguments.report)
    if arguments.tf_csv:
        write_reference_lines(report, to=arguments.tf_csv)
    if write_json(report.as_dict(), to=arguments.json):
        print_report(report)
    return Exit.DONE


def explains(track: str) -> bool:
    """Return whether a track supports explanations. False for an unknown track, which is reported later."""
    return track in TRACKS and bool(TRACKS[track].modules.explanation)


def write_classes(report: Report, *, to: Path) -> None:
    """Write one CSV row per split and class. Numbers are not rounded. Undefined numbers are empty cells."""
    with atomic_file(to) as file:
        declared = ["split", "label", "name", *(column.name for column in TRACKS[report.track].class_columns)]
        rows = [{"split": name, **row} for name, part in report.splits.items() for row in part.classes]
        table = csv.DictWriter(file, dict.fromkeys([*declared, *(rows[0] if rows else ())]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
