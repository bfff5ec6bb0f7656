"""How arguments are written: the ones that several verbs share, and what each may be."""

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from evaluator.catalog import TRACKS
from evaluator.problems import PodiumError

Number = TypeVar("Number", int, float)
STDOUT = Path("-")
SEEDS = 2**32


class WrongUsage(PodiumError):
    """The command line cannot be obeyed as it is written."""


class Parser(ArgumentParser):
    """A parser that raises instead of leaving with argparse's own exit code."""

    def __init__(self, *, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Raise :class:`WrongUsage`."""
        raise WrongUsage(message)


def existing_truth(text: str) -> Path:
    """Return a truth folder or a prepared file that is there."""
    return _readable(Path(text), wanted="no such folder or file")


def existing_file(text: str) -> Path:
    """Return a file that is there."""
    if text == "-":
        raise ArgumentTypeError("standard input is not read; name a file")
    path = _readable(Path(text), wanted="no such file")
    if not path.is_file():
        raise ArgumentTypeError(f"not a file: {path}")
    return path


def existing_folder(text: str) -> Path:
    """Return a folder that is there."""
    path = _readable(Path(text), wanted="no such folder")
    if not path.is_dir():
        raise ArgumentTypeError(f"not a folder: {path}")
    return path


def new_file(text: str) -> Path:
    """Return a path where a file can be written, so that nobody waits for a result that has no place."""
    path = Path(text)
    if path.is_dir():
        raise ArgumentTypeError(f"is a folder: {path}")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"no such folder: {path.parent}")
    return path


def fraction(text: str) -> float:
    """Return a number from 0 to 1."""
    number = _converted(float, text, "a number from 0 to 1")
    if not 0.0 <= number <= 1.0:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number


def positive(text: str) -> int:
    """Return a whole number from 1."""
    number = _converted(int, text, "a whole number from 1")
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return number


def seed(text: str) -> int:
    """Return a whole number that fits 32 bits."""
    number = _converted(int, text, f"a whole number from 0 to {SEEDS - 1}")
    if not 0 <= number < SEEDS:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 to {SEEDS - 1}")
    return number


def add_track(parser: Parser) -> None:
    """Add TRACK."""
    parser.add_argument("track", choices=TRACKS, metavar="TRACK", help=", ".join(TRACKS))


def add_json(parser: Parser) -> None:
    """Add --json."""
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        type=new_file,
        metavar="FILE",
        help="the answer as one JSON object: to FILE, or instead of the text",
    )


def add_set(parser: Parser) -> None:
    """Add --set."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the track; may be repeated (`podium tracks` lists them)",
    )


def add_threads(parser: Parser) -> None:
    """Add --threads."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--threads",
        type=positive,
        default=cores,
        metavar="N",
        help="cores to use (default all); the answer is the same",
    )


def add_halves(parser: Parser) -> None:
    """Add the two ways to say which images are public, and the seed that goes with drawing them."""
    halves = parser.add_mutually_exclusive_group()
    halves.add_argument(
        "--usage", type=existing_file, metavar="FILE", help="CSV of ImageID,Usage: Public, Private or Ignored"
    )
    halves.add_argument(
        "--split", type=fraction, metavar="P", help="draw the public share P of the images, the rest is private"
    )
    parser.add_argument(
        "--seed",
        type=seed,
        metavar="S",
        help="of what is drawn (default 0); not of --split where the truth has a salt.txt",
    )


def parameters(arguments: Namespace) -> dict[str, Any]:
    """Return what --set says, each value of its parameter's type; the track's defaults are not filled in.

    Raises
    ------
    WrongUsage, InvalidParameters
    """
    given: dict[str, str] = {}
    for assignment in arguments.set:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise WrongUsage(f"--set: {assignment!r} is not NAME=VALUE")
        given[name] = value
    resolved = TRACKS[arguments.track].resolve(given)
    return {name: resolved[name] for name in given}


def split(arguments: Namespace) -> tuple[float, int] | None:
    """Return the public share and its seed, where --split was given."""
    return None if arguments.split is None else (arguments.split, arguments.seed or 0)


def refuse_idle_seed(arguments: Namespace, *draws: str) -> None:
    """Refuse a seed where nothing is drawn.

    Raises
    ------
    WrongUsage
    """
    if arguments.seed is not None and all(getattr(arguments, name) is None for name in draws):
        raise WrongUsage(f"--seed goes with {' or '.join(f'--{name}' for name in draws)}")


def _readable(path: Path, *, wanted: str) -> Path:
    if not path.exists():
        raise ArgumentTypeError(f"{wanted}: {path}")
    if not os.access(path, os.R_OK):
        raise ArgumentTypeError(f"may not be read: {path}")
    return path


def _converted(kind: Callable[[str], Number], text: str, wanted: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not {wanted}") from None
