"""`make fuzz`: what kernels and server make of millions of numbers and of damaged files, and what hostile files cost.

Prints a table; the exit status is 1 if an answer is wrong or a file costs too much.

`--tokens 0 --files 1000 --first 123` tries other amounts and seeds; a part of 0 is left out, so that
`--tokens 0 --checked 0 --uploads 0 --costs 0 --files 1 --first SEED` tries one file again.
"""

import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tqdm import tqdm

from evaluator.catalog import TRACKS
from tests.fuzz import costs, files
from tests.fuzz.children import Outcome, tried

SHOWN = 20
QUIET_SECONDS = 20.0  # between lines of progress where nobody looks at a terminal
MEMORY = Path("/dev/shm")
LOAD = "from evaluator.scoring import load_kernels; load_kernels()"


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to try: `job` is `module:function`, called with each seed; a seed stands for `size` cases."""

    name: str
    job: str
    cases: int
    size: int
    environment: dict[str, str]
    meaning: str


CHECKED = {"NUMBA_BOUNDSCHECK": "1"}
PARTS = [
    Part("tokens", "tests.fuzz.tokens:answers", 10_000_000, 1_000, {}, "numbers, against Python's float()"),
    Part("files", "tests.fuzz.files:answers", 100_000, 1, {}, "damaged files, against the readable way"),
    Part("checked", "tests.fuzz.files:answers", 100_000, 1, CHECKED, "the same files, every array access checked"),
    Part("uploads", "tests.fuzz.uploads:answers", 10_000, 1, {}, "damaged files, from upload to score or rejection"),
]


@contextmanager
def scratch() -> Iterator[str]:
    """Give a folder in memory, where there is one, that takes whatever the processes leave behind."""
    with TemporaryDirectory(prefix="podium-fuzz-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield folder


def attempted(part: Part, cases: int, first: int, processes: int) -> tuple[Outcome, float]:
    """Try one part, and tell how far it is; return what came of it, and the seconds it took."""
    with scratch() as folder:
        environment = {**part.environment, "TMPDIR": folder}
        subprocess.run([sys.executable, "-c", LOAD], check=True, env={**os.environ, **part.environment})
        begun, outcome = perf_counter(), Outcome()
        seconds = 0.5 if sys.stderr.isatty() else QUIET_SECONDS
        with tqdm(total=cases, desc=part.name, unit="", unit_scale=True, mininterval=seconds) as bar:
            seeds = range(first, first + -(-cases // part.size))
            for outcome in tried(part.job, seeds, processes=processes, environment=environment):
                bar.update(outcome.seeds * part.size - bar.n)
                bar.set_postfix_str(f"{len(outcome.complaints)} wrong", refresh=False)
    return outcome, perf_counter() - begun


def main() -> int:
    parser = ArgumentParser(prog="make fuzz", description=__doc__)
    for part in PARTS:
        parser.add_argument(f"--{part.name}", type=int, default=part.cases, metavar="N", help=part.meaning)
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    parser.add_argument("--costs", type=int, default=1, metavar="N", help="0 leaves out the cost table (5 minutes)")
    words = parser.parse_args()
    wrong, rows = [], []
    for part in PARTS:
        cases: int = getattr(words, part.name)
        if cases:
            outcome, seconds = attempted(part, cases, words.first, words.processes)
            wrong += outcome.complaints
            wrong += [f"{files.keep(files.drawn(seed))}: it died of this" for seed in outcome.deaths if part.size == 1]
            rows.append((part, outcome, seconds))
    for part, outcome, seconds in rows:
        print(table(part, outcome, seconds))
    wrong += costs.report(list(TRACKS)) if words.costs else []
    print(*wrong[:SHOWN], sep="\n")
    return 1 if wrong else 0


def table(part: Part, outcome: Outcome, seconds: float) -> str:
    """Return what one part came to, in lines."""
    head = f"{part.name}: {part.meaning}"
    total = f"{outcome.seeds * part.size:,} cases, {len(outcome.complaints):,} wrong, {seconds:,.0f} s"
    lines = [f"  {kind:<40}{count:>12,}" for kind, count in sorted(outcome.counts.items())]
    return "\n".join([head, f"  {total}", *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
