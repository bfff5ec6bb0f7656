"""Implements ``podium prepare``, which compiles a ground truth folder into one file."""

import json
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluator.catalog import TRACKS
from evaluator.ceiling import add_ceiling_warnings, ceilings
from evaluator.cli.defects import print_warnings
from evaluator.cli.exits import Exit
from evaluator.cli.output import write_json
from evaluator.cli.usage import (
    Parser,
    add_json,
    add_limits,
    add_set,
    add_split_options,
    add_track,
    check_seed_is_used,
    existing_file,
    existing_folder,
    limits,
    new_file,
    parameters,
    truth_options,
)
from evaluator.problems import Findings, InvalidParameters, Problem
from evaluator.scoring import TruthSummary, candidates, prepare, statistics, template, write_kit
from evaluator.texts import counted
from evaluator.truth_statistics import add_balance_warnings


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium prepare`` to its parser."""
    add_track(parser)
    parser.add_argument("--truth", required=True, type=existing_folder, metavar="DIR", help="the truth folder")
    add_set(parser)
    add_split_options(parser)
    parser.add_argument(
        "--salt", type=existing_file, metavar="FILE", help="a salt.txt to use instead of the one in the folder"
    )
    parser.add_argument("--out", required=True, type=new_file, metavar="FILE", help="the file to write")
    parser.add_argument(
        "--sample", type=new_file, metavar="FILE", help="also write a template submission: every image, no predictions"
    )
    parser.add_argument(
        "--candidates",
        type=new_file,
        metavar="FILE",
        help="also write the list of candidates (all possible answers) in shuffled order",
    )
    parser.add_argument(
        "--kit", type=new_file, metavar="FILE", help="also write the check kit, which participants use to check files"
    )
    parser.add_argument(
        "--statistics",
        type=new_file,
        metavar="FILE",
        help="also write statistics of the ground truth and the highest possible score as JSON; keep this file secret",
    )
    add_limits(parser)
    parser.add_argument(
        "--hidden",
        action="store_true",
        help="for a challenge: also report data that would reveal answers to participants",
    )
    parser.add_argument("--ceiling", action="store_true", help="also score the ground truth as a submission (slow)")
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Prepare a ground truth. Print its number of images, checksum, warnings and the signature of scores based on it.

    A signature identifies how a score was computed.
    """
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
    if arguments.kit:
        made_with = parameters(arguments)
        write_kit(arguments.track, arguments.out, arguments.kit, parameters=made_with, limits=limits(arguments))
    warnings = Findings([Problem(**one) for one in made["warnings"]], made["warning_counts"])
    found = ceilings(arguments.track, arguments.out, parameters(arguments)) if arguments.ceiling else {}
    add_ceiling_warnings(found, warnings)
    described = {**statistics(arguments.track, arguments.out), "ceiling": found}
    # Warn about classes that occur only in public or only in private images. Random splits cause no warning, because
    # the organizer does not choose their images.
    if arguments.split is None:
        add_balance_warnings(described, warnings)
    made["warnings"] = [problem.as_dict() for problem in warnings.errors]
    if arguments.statistics:
        arguments.statistics.write_text(json.dumps(described, ensure_ascii=False), encoding="utf-8")
    if write_json({**made, **({"ceiling": _scores(found)} if found else {})}, to=arguments.json):
        print_warnings(warnings)
        _print(made, found, arguments.out)
    return Exit.DONE


def _scores(ceiling: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {split: {name: one[name] for name in ("score", "unreachable")} for split, one in ceiling.items()}


def _print(made: TruthSummary, ceiling: Mapping[str, Mapping[str, Any]], out: Path) -> None:
    print(f"{out}: {counted(made['images'], 'image')}")
    print(f"sha256 {made['sha256']}")
    print(made["signature"])
    for name, found in ceiling.items():
        print(f"ceiling {name}: {'undefined' if found['score'] is None else found['score']}")
