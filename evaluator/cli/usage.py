"""Defines command-line arguments that several commands share, and functions that convert and check arguments."""

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from evaluator.catalog import TRACKS, Limits
from evaluator.problems import PodiumError, visible
from evaluator.request import Progress, ReportOptions, Resources, ScoringRequest, TruthOptions

Number = TypeVar("Number", int, float)
STDOUT = Path("-")
SEEDS = 2**32
CHOICES = re.compile(r" \(choose from (.*)\)")


class WrongUsage(PodiumError):
    """Raised if the command line is invalid."""


class Parser(ArgumentParser):
    """A parser that raises an exception if the command line is invalid.

    Without this class, argparse would end the process with its own exit code.
    """

    def __init__(self, *, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Raise :class:`WrongUsage`. The message suggests the known argument most similar to an unknown one, if any."""
        hint = self._suggestion(message)
        raise WrongUsage((CHOICES.sub("", message) if hint else message) + hint)

    def _suggestion(self, message: str) -> str:
        if found := re.search(rf"invalid choice: '([^']*)'{CHOICES.pattern}", message):
            word, known = found[1], re.findall(r"[\w-]+", found[2])
        elif found := re.search(r"unrecognized arguments: (--[\w-]+)", message):
            word, known = found[1], list(self._option_string_actions)
        else:
            return ""
        return suggestion(word, known)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a suggestion to append to a message: the known word most similar to ``word``; empty if none is similar."""
    close = get_close_matches(word, list(known), n=1)
    return f". Did you mean {visible(close[0])}?" if close else ""


def existing_truth(text: str) -> Path:
    """Convert an argument to the path of an existing ground truth folder or prepared ground truth."""
    return _readable(Path(text), expected="no such folder or file")


def existing_file(text: str) -> Path:
    """Convert an argument to the path of an existing file."""
    if text == "-":
        raise ArgumentTypeError("standard input is not supported; give the name of a file")
    path = _readable(Path(text), expected="no such file")
    if not path.is_file():
        raise ArgumentTypeError(f"not a file: {path}")
    return path


def existing_folder(text: str) -> Path:
    """Convert an argument to the path of an existing folder."""
    path = _readable(Path(text), expected="no such folder")
    if not path.is_dir():
        raise ArgumentTypeError(f"not a folder: {path}")
    return path


def new_file(text: str) -> Path:
    """Convert an argument to the path of a file to write. The folder of the file must exist."""
    path = Path(text)
    if path.is_dir():
        raise ArgumentTypeError(f"this is a folder: {path}")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"no such folder: {path.parent}")
    return path


def fraction(text: str) -> float:
    """Convert an argument to a number from 0 to 1."""
    number = _converted(float, text, "a number from 0 to 1")
    if not 0.0 <= number <= 1.0:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number


def positive(text: str) -> int:
    """Convert an argument to a positive integer."""
    number = _converted(int, text, "a positive whole number")
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a positive whole number")
    return number


def seed(text: str) -> int:
    """Convert an argument to a seed, an integer from 0 to 2**32 - 1."""
    number = _converted(int, text, f"a whole number from 0 to {SEEDS - 1}")
    if not 0 <= number < SEEDS:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 to {SEEDS - 1}")
    return number


def add_track(parser: Parser, *, optional: bool = False) -> None:
    """Add the positional argument TRACK to a parser."""
    track = parser.add_argument("track", choices=TRACKS, metavar="TRACK", help=", ".join(TRACKS))
    if optional:
        track.nargs, track.required = "?", False


def add_limits(parser: Parser) -> None:
    """Add the --limit option to a parser."""
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help=f"a limit on submitted files; may be repeated. NAME is one of {', '.join(asdict(Limits()))}",
    )


def limits(arguments: Namespace) -> Limits:
    """Return the limits on submitted files: the values given by --limit, and defaults for the other limits.

    Raises
    ------
    WrongUsage
    """
    values = asdict(Limits())
    for assignment in arguments.limit:
        name, _, value = assignment.partition("=")
        if name not in values or not value.isdecimal():
            raise WrongUsage(f"--limit: {assignment!r} is not NAME=NUMBER, where NAME is one of {', '.join(values)}")
        values[name] = int(value)
    return Limits(**values)


def add_json(parser: Parser) -> None:
    """Add the --json option to a parser."""
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        type=new_file,
        metavar="FILE",
        help="write the result as one JSON object: to FILE, or to standard output instead of text",
    )


def add_set(parser: Parser) -> None:
    """Add the --set option to a parser."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter of the track; may be repeated (`podium tracks` lists the parameters)",
    )


def add_threads(parser: Parser) -> None:
    """Add the --threads option to a parser."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--threads",
        type=positive,
        default=cores,
        metavar="N",
        help="number of threads (default: number of cores); it does not affect the result",
    )


def add_split_options(parser: Parser) -> None:
    """Add the --usage, --split and --seed options, which determine the public images, to a parser."""
    public = parser.add_mutually_exclusive_group()
    public.add_argument(
        "--usage",
        type=existing_file,
        metavar="FILE",
        help="CSV with the columns ImageID and Usage (Public, Private or Ignored)",
    )
    public.add_argument(
        "--split", type=fraction, metavar="P", help="make a random fraction P of the images public and the rest private"
    )
    parser.add_argument(
        "--seed",
        type=seed,
        metavar="S",
        help="random seed (default 0); --split ignores it if the truth has a salt.txt",
    )


def parameters(arguments: Namespace) -> dict[str, Any]:
    """Return the track parameters given by --set, converted to their types. Other parameters are omitted.

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


def truth_options(arguments: Namespace) -> TruthOptions:
    """Return the options for opening a ground truth that were given by --usage, --split and --seed."""
    split = None if arguments.split is None else (arguments.split, arguments.seed or 0)
    return TruthOptions(usage=arguments.usage, split=split)


def scoring_request(
    arguments: Namespace, submission: Path, report: ReportOptions, progress: Progress
) -> ScoringRequest:
    """Return a request to score a submission with the options given on the command line."""
    return ScoringRequest(
        arguments.track,
        arguments.truth,
        submission,
        parameters=parameters(arguments),
        opening=truth_options(arguments),
        report=report,
        resources=Resources(threads=arguments.threads, progress=progress),
    )


def check_seed_is_used(arguments: Namespace, *options: str) -> None:
    """Raise an exception if --seed is given without any of the options that use a seed.

    Raises
    ------
    WrongUsage
    """
    if arguments.seed is not None and all(getattr(arguments, name) is None for name in options):
        raise WrongUsage(f"--seed requires {' or '.join(f'--{name}' for name in options)}")


def _readable(path: Path, *, expected: str) -> Path:
    if not path.exists():
        raise ArgumentTypeError(f"{expected}: {path}")
    if not os.access(path, os.R_OK):
        raise ArgumentTypeError(f"no permission to read {path}")
    return path


def _converted(kind: Callable[[str], Number], text: str, expected: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not {expected}") from None
