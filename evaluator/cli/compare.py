"""``podium compare``: whether one submission is better than another, or only luckier."""

import sys
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluator.catalog import TRACKS
from evaluator.cli.exits import Exit
from evaluator.cli.output import DECIMALS, Ink, write_json
from evaluator.cli.progress import progress
from evaluator.cli.usage import (
    Parser,
    add_halves,
    add_json,
    add_set,
    add_threads,
    add_track,
    existing_file,
    existing_truth,
    parameters,
    positive,
    split,
)
from evaluator.comparison import A_BETTER, B_BETTER, TIED, SplitComparison, as_dict, compare
from evaluator.digits import outward, written
from evaluator.problems import visible
from evaluator.report import Report
from evaluator.scoring import score

REPLICATES = 1000
SHOWN = 5
VERDICTS = {A_BETTER: "A is better", TIED: "cannot be told apart", B_BETTER: "B is better"}


def declare(parser: Parser) -> None:
    """Add the verb's arguments."""
    add_track(parser)
    parser.add_argument("--truth", required=True, type=existing_truth, metavar="DIR", help="folder or prepared file")
    parser.add_argument("first", type=existing_file, metavar="A", help="a submission")
    parser.add_argument("second", type=existing_file, metavar="B", help="another one")
    add_set(parser)
    add_halves(parser)
    parser.add_argument(
        "--bootstrap",
        type=positive,
        default=REPLICATES,
        metavar="N",
        help=f"replicates of the images that the interval is drawn from (default {REPLICATES})",
    )
    add_json(parser)
    add_threads(parser)


def run(arguments: Namespace) -> int:
    """Score both with the same draws, compare and print."""
    with TemporaryDirectory() as draws:
        a, b = (_scored(arguments, path, Path(draws)) for path in (arguments.first, arguments.second))
    splits = compare(a, b, next((column.name for column in TRACKS[a.track].class_columns), ""))
    answer = {
        "track": a.track,
        "signature": a.signature,
        "parameters": dict(a.parameters),
        "a": str(arguments.first),
        "b": str(arguments.second),
        "replicates": arguments.bootstrap,
        "seed": arguments.seed or 0,
        "splits": as_dict(splits),
    }
    if write_json(answer, to=arguments.json):
        _print(splits, arguments, a.signature)
    return Exit.DONE


def _scored(arguments: Namespace, submission: Path, draws: Path) -> Report:
    arguments.submission = submission  # which of the two is at fault, where it is
    with progress() as tell:
        return score(
            arguments.track,
            arguments.truth,
            submission,
            parameters=parameters(arguments),
            usage=arguments.usage,
            split=split(arguments),
            threads=arguments.threads,
            progress=tell,
            bootstrap=arguments.bootstrap,
            seed=arguments.seed or 0,
            draws=draws,
        )


def _print(splits: dict[str, SplitComparison], arguments: Namespace, signature: str) -> None:
    ink = Ink(sys.stdout)
    print(f"A  {visible(str(arguments.first))}\nB  {visible(str(arguments.second))}")
    shown = splits if "private" in splits else {"all": splits["all"]}
    for name, part in shown.items():
        print(f"\n{ink.faint(name)}" if len(shown) > 1 else "")
        wide = max(map(len, part.metrics))
        print(ink.faint(f"{'':<{wide}}  {'A':>7}  {'B':>7}  {'B - A':>8}  95 % interval"))
        for metric, found in part.metrics.items():
            if found.difference is None or found.interval is None or found.verdict is None:
                print(f"{metric:<{wide}}  undefined")
                continue
            text = f"{metric:<{wide}}  {found.a:.5f}  {found.b:.5f}  {signed(found.difference)}  "
            text += "[{}, {}]".format(*map(signed, outward(found.interval, DECIMALS)))
            text += f"  {VERDICTS[found.verdict]}"
            print(ink.bold(text) if metric == part.headline else text)
        if TRACKS[arguments.track].class_columns:
            print(f"classes: B won {part.won}, lost {part.lost}, {part.even} even")
            _print_classes(part)
    print(f"\n{ink.faint(signature)}")


def _print_classes(part: SplitComparison) -> None:
    """Print where B gained and lost most."""
    named = [(float(row["difference"] or 0.0), visible(str(row["name"]))) for row in part.classes]
    gained = [pair for pair in named[:SHOWN] if pair[0] > 0]
    lost = [pair for pair in named[-SHOWN:] if pair[0] < 0][::-1]
    for word, pairs in (("most gained", gained), ("most lost", lost)):
        if pairs:
            print(f"  {word}: " + ", ".join(f"{name} {signed(difference)}" for difference, name in pairs))


def signed(difference: float) -> str:
    """Return a difference with its sign; what rounds to zero is not negative."""
    return written(difference, DECIMALS, sign=True)
