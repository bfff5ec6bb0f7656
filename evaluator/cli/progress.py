"""Shows progress: a bar on a terminal; elsewhere, only a message when the kernels are compiled."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from evaluator.kernels import COMPILING

ProgressCallback = Callable[[str, float], None]


def announce_compilation(stage: str, fraction: float) -> None:
    """Print a message when compilation begins, which happens only once per machine."""
    if stage == COMPILING and fraction == 0:
        print("compiling the kernels; this takes about a minute and is done only once on this machine", file=sys.stderr)


@contextmanager
def progress() -> Iterator[ProgressCallback]:
    """Yield a function that shows progress, given the name of a stage and its completed fraction."""
    if not sys.stderr.isatty():
        yield announce_compilation
        return
    tqdm = import_module("tqdm").tqdm  # tqdm is loaded only if there is a terminal.
    form = "{desc:<13} {percentage:3.0f}% |{bar}| {elapsed}"
    with tqdm(total=1.0, desc="reading", leave=False, file=sys.stderr, bar_format=form) as bar:

        def update(stage: str, fraction: float) -> None:
            announce_compilation(stage, fraction)
            if stage != bar.desc:
                bar.set_description_str(stage, refresh=False)
                bar.reset()
            bar.update(fraction - bar.n)

        yield update
