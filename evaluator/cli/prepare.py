"""``podium prepare``: a truth folder into one file."""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluator.catalog import TRACKS
from evaluator.cli.ceiling import ceilings, warn_of
from evaluator.cli.defects import print_warnings
from evaluator.cli.exits import Exit
from evaluator.cli.output import write_json
from evaluator.cli.usage import (
    Parser,
    add_halves,
    add_json,
    add_set,
    add_track,
    existing_file,
    existing_folder,
    new_file,
    parameters,
    refuse_idle_seed,
    split,
)
from evaluator.problems import Findings, InvalidParameters, Problem
from evaluator.scoring import candidates, prepare, sample


def declare(parser: Parser) -> None:
    """Add the verb's arguments."""
    add_track(parser)
    parser.add_argument("--truth", required=True, type=existing_folder, metavar="DIR", help="the truth folder")
    add_set(parser)
    add_halves(parser)
    parser.add_argument("--salt", type=existing_file, metavar="FILE", help="a salt.txt that replaces the folder's")
    parser.add_argument("--out", required=True, type=new_file, metavar="FILE", help="where the prepared truth goes")
    parser.add_argument(
        "--sample", type=new_file, metavar="FILE", help="also write a sample submission that names every image"
    )
    parser.add_argument(
        "--candidates", type=new_file, metavar="FILE", help="also write what a submission chooses from, shuffled"
    )
    parser.add_argument(
        "--hidden", action="store_true", help="for a contest: also refuse what would reveal answers to participants"
    )
    parser.add_argument(
        "--ceiling", action="store_true", help="also score the truth as its own prediction, which takes time"
    )
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Prepare and print."""
    refuse_idle_seed(arguments, "split")
    if arguments.candidates and not TRACKS[arguments.track].gives_candidates:
        raise InvalidParameters(f"{arguments.track}: this track has no candidates; leave --candidates out")
    made = prepare(
        arguments.track,
        arguments.truth,
        arguments.out,
        parameters=parameters(arguments),
        usage=arguments.usage,
        split=split(arguments),
        salt=arguments.salt,
        hidden=arguments.hidden,
    )
    for write, path in ((sample, arguments.sample), (candidates, arguments.candidates)):
        if path:
            write(arguments.track, arguments.out, path)
    warnings = Findings([Problem(**one) for one in made["warnings"]], made["warning_counts"])
    if arguments.ceiling:
        made["ceiling"] = ceilings(arguments.track, arguments.out, parameters(arguments))
        warn_of(made["ceiling"], warnings)
    made["warnings"] = [problem.as_dict() for problem in warnings.errors]
    if write_json(made, to=arguments.json):
        print_warnings(warnings)
        _print(made, arguments.out)
    return Exit.DONE


def _print(made: Mapping[str, Any], out: Path) -> None:
    print(f"{out}: {made['images']:,} images")
    print(f"sha256 {made['sha256']}")
    print(made["signature"])
    for name, found in made.get("ceiling", {}).items():
        print(f"ceiling {name}: {'undefined' if found['score'] is None else found['score']}")
