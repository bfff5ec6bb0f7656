"""Implements ``podium schema``, which prints the JSON Schema of challenge.yaml."""

import json
from argparse import Namespace

from evaluator.bundle.schema import challenge_schema
from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium schema`` to its parser."""
    parser.add_argument("name", choices=["challenge"], metavar="NAME", help="challenge: the schema of challenge.yaml")


def run(arguments: Namespace) -> int:
    """Print the JSON Schema of challenge.yaml."""
    print(json.dumps(challenge_schema(), indent=2, ensure_ascii=False))
    return Exit.DONE
