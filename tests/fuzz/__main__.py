"""Runs `make fuzz`: tests the kernels and the server with random numbers and damaged files.

The program also measures the CPU time and memory that hostile files need, and prints a table. The exit status is 1 if
an implementation gives a wrong result, or if a file needs too much CPU time or memory.

The fuzz test has several parts. Options set the number of cases of a part and the first seed, for example
`--files 1000 --first 123`. Parts with 0 cases are skipped, so
`--tokens 0 --checked 0 --uploads 0 --costs 0 --files 1 --first SEED` tests a single file again.
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
QUIET_SECONDS = 20.0  # Seconds between progress messages if the output is not a terminal.
MEMORY = Path("/dev/shm")
LOAD = "from evaluator.scoring import load_kernels; load_kernels()"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the fuzz test.

    `job` has the form `module:function`. The function is called once per seed. It generates and tests `size` cases from
    the seed.
    """

    name: str
    job: str
    cases: int
    size: int
    environment: dict[str, str]
    meaning: str


CHECKED = {"NUMBA_BOUNDSCHECK": "1"}
PARTS = [
    Part("tokens", "tests.fuzz.tokens:answers", 10_000_000, 1_000, {}, "numbers, against Python's float()"),
    Part("files", "tests.fuzz.files:answers", 100_000, 1, {}, "damaged files, against the reference implementation"),
    Part("checked", "tests.fuzz.files:answers", 100_000, 1, CHECKED, "the same files, with array bounds checks"),
    Part("uploads", "tests.fuzz.uploads:answers", 10_000, 1, {}, "damaged files, from upload to score or rejection"),
]


@contextmanager
def scratch() -> Iterator[str]:
    """Yield a temporary folder, in memory if possible.

    At the end, the folder is removed with all files that child processes have left in it.
    """
    with TemporaryDirectory(prefix="podium-fuzz-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield folder


def attempted(part: Part, cases: int, first: int, processes: int) -> tuple[Outcome, float]:
    """Run one part with a progress bar, and return its outcome and its duration in seconds."""
    with scratch() as folder:
        environment = {**part.environment, "TMPDIR": folder}
        subprocess.run([sys.executable, "-c", LOAD], check=True, env={**os.environ, **part.environment})
        begun, outcome = perf_counter(), Outcome()
        seconds = 0.5 if sys.stderr.isatty() else QUIET_SECONDS
        with tqdm(total=cases, desc=part.name, unit="", unit_scale=True, mininterval=seconds) as bar:
            seeds = range(first, first + -(-cases // part.size))
            for outcome in tried(part.job, seeds, processes=processes, environment=environment):
                bar.update(outcome.seeds * part.size - bar.n)
                bar.set_postfix_str(f"{len(outcome.failures)} wrong", refresh=False)
    return outcome, perf_counter() - begun


def main() -> int:
    parser = ArgumentParser(prog="make fuzz", description=__doc__)
    for part in PARTS:
        parser.add_argument(f"--{part.name}", type=int, default=part.cases, metavar="N", help=part.meaning)
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    parser.add_argument("--costs", type=int, default=1, metavar="N", help="0 skips the cost table (5 minutes)")
    words = parser.parse_args()
    wrong, rows = [], []
    for part in PARTS:
        cases: int = getattr(words, part.name)
        if cases:
            outcome, seconds = attempted(part, cases, words.first, words.processes)
            wrong += outcome.failures
            deaths = outcome.deaths if part.size == 1 else []
            wrong += [f"{files.keep(files.drawn(seed))}: this file crashed a process" for seed in deaths]
            rows.append((part, outcome, seconds))
    for part, outcome, seconds in rows:
        print(table(part, outcome, seconds))
    wrong += costs.report(list(TRACKS)) if words.costs else []
    print(*wrong[:SHOWN], sep="\n")
    return 1 if wrong else 0


def table(part: Part, outcome: Outcome, seconds: float) -> str:
    """Return a report about one part of the fuzz test: the numbers of cases and failures, and the cases by kind."""
    head = f"{part.name}: {part.meaning}"
    total = f"{outcome.seeds * part.size:,} cases, {len(outcome.failures):,} wrong, {seconds:,.0f} s"
    lines = [f"  {kind:<40}{count:>12,}" for kind, count in sorted(outcome.counts.items())]
    return "\n".join([head, f"  {total}", *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
