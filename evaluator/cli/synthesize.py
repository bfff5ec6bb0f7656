"""Implements ``podium synthesize``, which generates a ground truth folder and submissions from a random seed."""

from argparse import ArgumentTypeError, Namespace
from pathlib import Path

from evaluator.cli.exits import Exit
from evaluator.cli.progress import progress
from evaluator.cli.usage import Parser, WrongUsage, add_track, fraction, positive, seed
from evaluator.synthesis import QUALITIES, OccupiedFolder, synthesize


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium synthesize`` to its parser."""
    add_track(parser)
    parser.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="DIR",
        help="new or empty folder, or a folder written by this command, which is then replaced",
    )
    parser.add_argument("--images", type=positive, default=1_000, metavar="N", help="number of images (default 1000)")
    parser.add_argument(
        "--boxes-per-image",
        type=positive,
        default=7,
        metavar="N",
        help="mean number of objects or pairs per image (default 7)",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the ground truth (default 0)")
    parser.add_argument(
        "--quality",
        action="append",
        type=quality,
        metavar="Q",
        help=f"quality of a submission, from 0 to 1; may be repeated (default {' '.join(map(str, QUALITIES))})",
    )
    parser.add_argument(
        "--submission-seed", type=seed, default=0, metavar="S", help="seed of the submissions (default 0)"
    )


def quality(text: str) -> float:
    """Convert an argument to the quality of a synthesized submission, from 0 to 1.

    Numbers with more than two decimal places are rejected, because file names contain the quality with exactly two.
    """
    number = fraction(text)
    if number != round(number, 2):
        raise ArgumentTypeError(f"{text!r} has more than two decimals")
    return number


def run(arguments: Namespace) -> int:
    """Generate a ground truth folder and submissions, and print the names of the generated files."""
    try:
        with progress() as tell:
            made = synthesize(
                arguments.track,
                arguments.out,
                images=arguments.images,
                boxes_per_image=arguments.boxes_per_image,
                seed=arguments.seed,
                qualities=tuple(dict.fromkeys(arguments.quality or QUALITIES)),
                submission_seed=arguments.submission_seed,
                progress=tell,
            )
    except OccupiedFolder as error:
        raise WrongUsage(f"--out: {error}") from error
    for name in made["files"]:
        print(arguments.out / name)
    return Exit.DONE
