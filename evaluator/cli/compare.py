"""Implements ``podium compare``, which tests whether two submissions differ significantly."""

import sys
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluator.catalog import TRACKS
from evaluator.cli.exits import Exit
from evaluator.cli.output import DECIMALS, TextStyle, write_json
from evaluator.cli.progress import progress
from evaluator.cli.usage import (
    Parser,
    add_json,
    add_set,
    add_split_options,
    add_threads,
    add_track,
    existing_file,
    existing_truth,
    positive,
    scoring_request,
)
from evaluator.comparison import A_BETTER, B_BETTER, TIED, SplitComparison, as_dict, compare
from evaluator.digits import outward, written
from evaluator.problems import visible
from evaluator.report import Report
from evaluator.request import Bootstrap, ReportOptions
from evaluator.scoring import score

REPLICATES = 1000
SHOWN = 5
VERDICTS = {A_BETTER: "A is better", TIED: "no significant difference", B_BETTER: "B is better"}


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium compare`` to its parser."""
    add_track(parser)
    parser.add_argument(
        "--truth",
        required=True,
        type=existing_truth,
        metavar="DIR",
        help="ground truth folder or prepared ground truth",
    )
    parser.add_argument("first", type=existing_file, metavar="A", help="the first submission, A")
    parser.add_argument("second", type=existing_file, metavar="B", help="the second submission, B")
    add_set(parser)
    add_split_options(parser)
    parser.add_argument(
        "--bootstrap",
        type=positive,
        default=REPLICATES,
        metavar="N",
        help=f"number of bootstrap replicates for the intervals (default {REPLICATES})",
    )
    add_json(parser)
    add_threads(parser)


def run(arguments: Namespace) -> int:
    """Score two submissions with the same bootstrap replicates, compare their scores and print the result."""
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
    # The error message for a rejected file contains ``arguments.submission``, so it is set to the path of the file that
    # is scored.
    arguments.submission = submission
    options = ReportOptions(bootstrap=Bootstrap(arguments.bootstrap, arguments.seed or 0, draws))
    with progress() as tell:
        return score(scoring_request(arguments, submission, options, tell))


def _print(splits: dict[str, SplitComparison], arguments: Namespace, signature: str) -> None:
    style = TextStyle(sys.stdout)
    print(f"A  {visible(str(arguments.first))}\nB  {visible(str(arguments.second))}")
    shown = splits if "private" in splits else {"all": splits["all"]}
    for name, part in shown.items():
        print(f"\n{style.faint(name)}" if len(shown) > 1 else "")
        wide = max(map(len, part.metrics))
        print(style.faint(f"{'':<{wide}}  {'A':>7}  {'B':>7}  {'B - A':>8}  95% interval"))
        for metric, found in part.metrics.items():
            if found.difference is None or found.interval is None or found.verdict is None:
                print(f"{metric:<{wide}}  undefined")
                continue
            text = f"{metric:<{wide}}  {found.a:.5f}  {found.b:.5f}  {signed(found.difference)}  "
            text += "[{}, {}]".format(*map(signed, outward(found.interval, DECIMALS)))
            text += f"  {VERDICTS[found.verdict]}"
            print(style.bold(text) if metric == part.headline else text)
        if TRACKS[arguments.track].class_columns:
            print(f"classes: B is better on {part.won}, worse on {part.lost}, equal on {part.even}")
            _print_classes(part)
    print(f"\n{style.faint(signature)}")


def _print_classes(part: SplitComparison) -> None:
    """Print the classes with the largest gains and the largest losses of submission B compared with submission A."""
    named = [(float(row["difference"] or 0.0), visible(str(row["name"]))) for row in part.classes]
    gained = [pair for pair in named[:SHOWN] if pair[0] > 0]
    lost = [pair for pair in named[-SHOWN:] if pair[0] < 0][::-1]
    for word, pairs in (("largest gains", gained), ("largest losses", lost)):
        if pairs:
            print(f"  {word}: " + ", ".join(f"{name} {signed(difference)}" for difference, name in pairs))


def signed(difference: float) -> str:
    """Return a difference as a string, with a plus sign if it is positive. Zero never has a minus sign."""
    return written(difference, DECIMALS, sign=True)
