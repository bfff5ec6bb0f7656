"""``podium prepare`` compiles a truth folder to one file."""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluator.catalog import TRACKS
from evaluator.cli.ceiling import add_ceiling_warnings, ceilings
from evaluator.cli.defects import print_warnings
from evaluator.cli.exits import Exit
from evaluator.cli.output import write_json
from evaluator.cli.usage import (
    Parser,
    add_json,
    add_set,
    add_split_options,
    add_track,
    check_seed_is_used,
    existing_file,
    existing_folder,
    new_file,
    parameters,
    truth_options,
)
from evaluator.problems import Findings, InvalidParameters, Problem
from evaluator.scoring import TruthSummary, candidates, prepare, template


def declare(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_track(parser)
    parser.add_argument("--truth", required=True, type=existing_folder, metavar="DIR", help="the truth folder")
    add_set(parser)
    add_split_options(parser)
    parser.add_argument(
        "--salt", type=existing_file, metavar="FILE", help="a salt.txt to use instead of the one in the folder"
    )
    parser.add_argument("--out", required=True, type=new_file, metavar="FILE", help="the prepared truth to write")
    parser.add_argument(
        "--sample", type=new_file, metavar="FILE", help="also write a template submission: every image, no predictions"
    )
    parser.add_argument(
        "--candidates",
        type=new_file,
        metavar="FILE",
        help="also write everything that a submission may choose from, shuffled",
    )
    parser.add_argument(
        "--hidden",
        action="store_true",
        help="for a challenge: also report data that would reveal answers to participants",
    )
    parser.add_argument("--ceiling", action="store_true", help="also score the truth as a submission, which takes time")
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Prepare a truth and print its properties."""
    check_seed_is_used(arguments, "split")
    if arguments.candidates and not TRACKS[arguments.track].gives_candidates:
        raise InvalidParameters(f"{arguments.track}: this track has no candidates; remove --candidates")
    made = prepare(
        arguments.track,
        arguments.truth,
        arguments.out,
        parameters=parameters(arguments),
        opening=replace(truth_options(arguments), salt=arguments.salt, hidden=arguments.hidden),
    )
    for write, path in ((template, arguments.sample), (candidates, arguments.candidates)):
        if path:
            write(arguments.track, arguments.out, path)
    warnings = Findings([Problem(**one) for one in made["warnings"]], made["warning_counts"])
    found = ceilings(arguments.track, arguments.out, parameters(arguments)) if arguments.ceiling else {}
    add_ceiling_warnings(found, warnings)
    made["warnings"] = [problem.as_dict() for problem in warnings.errors]
    if write_json({**made, **({"ceiling": found} if found else {})}, to=arguments.json):
        print_warnings(warnings)
        _print(made, found, arguments.out)
    return Exit.DONE


def _print(made: TruthSummary, ceiling: Mapping[str, Mapping[str, Any]], out: Path) -> None:
    print(f"{out}: {made['images']:,} images")
    print(f"sha256 {made['sha256']}")
    print(made["signature"])
    for name, found in ceiling.items():
        print(f"ceiling {name}: {'undefined' if found['score'] is None else found['score']}")
