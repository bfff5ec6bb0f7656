"""Implements ``podium reveals``, which counts images that are private in one ground truth and public in another."""

from argparse import Namespace

from evaluator.cli.exits import Exit
from evaluator.cli.output import write_json
from evaluator.cli.usage import Parser, add_json, existing_file
from evaluator.truth import Truth, newly_public


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium reveals`` to its parser."""
    parser.add_argument("earlier", type=existing_file, metavar="EARLIER", help="prepared ground truth that is in use")
    parser.add_argument(
        "later", type=existing_file, metavar="LATER", help="prepared ground truth that would replace it"
    )
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Count and print the images that are private in one ground truth and public in the other."""
    count = newly_public(Truth.load(arguments.earlier), Truth.load(arguments.later))
    if write_json({"newly_public": count}, to=arguments.json):
        print(f"private images that would become public: {count:,}")
    return Exit.DONE
