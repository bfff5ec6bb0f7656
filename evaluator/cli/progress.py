"""Shows progress as a bar on a terminal. Without a terminal, only the compilation of numba functions is reported."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from evaluator.kernels import COMPILING

ProgressCallback = Callable[[str, float], None]


def announce_compilation(stage: str, fraction: float) -> None:
    """Print a message when the compilation of the numba functions begins. They are compiled once per machine."""
    if stage == COMPILING and fraction == 0:
        print("compiling the kernels; this takes about a minute and is done only once on this machine", file=sys.stderr)


@contextmanager
def progress() -> Iterator[ProgressCallback]:
    """Yield a function that shows progress.

    The arguments of this function are the name of the current stage, such as "scoring", and the completed fraction.
    """
    if not sys.stderr.isatty():
        yield announce_compilation
        return
    tqdm = import_module("tqdm").tqdm  # tqdm is imported only if there is a terminal to show the progress bar.
    form = "{desc:<13} {percentage:3.0f}% |{bar}| {elapsed}"
    with tqdm(total=1.0, desc="reading", leave=False, file=sys.stderr, bar_format=form) as bar:

        def update(stage: str, fraction: float) -> None:
            announce_compilation(stage, fraction)
            if stage != bar.desc:
                bar.set_description_str(stage, refresh=False)
                bar.reset()
            bar.update(fraction - bar.n)

        yield update
