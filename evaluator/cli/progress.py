"""A bar on a terminal, and nothing anywhere else but word of what takes long only once."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from evaluator.kernels import COMPILING

Tell = Callable[[str, float], None]


def say_that_it_compiles(stage: str, fraction: float) -> None:
    """Explain, as it begins, the one wait that no later run has."""
    if stage == COMPILING and fraction == 0:
        print("compiling the kernels, once on this machine: about a minute", file=sys.stderr)


@contextmanager
def progress() -> Iterator[Tell]:
    """Give a function that takes a stage and the fraction of it that is done."""
    if not sys.stderr.isatty():
        yield say_that_it_compiles
        return
    tqdm = import_module("tqdm").tqdm  # loaded where somebody looks
    form = "{desc:<13} {percentage:3.0f}% |{bar}| {elapsed}"
    with tqdm(total=1.0, desc="reading", leave=False, file=sys.stderr, bar_format=form) as bar:

        def tell(stage: str, fraction: float) -> None:
            say_that_it_compiles(stage, fraction)
            if stage != bar.desc:
                bar.set_description_str(stage, refresh=False)
                bar.reset()
            bar.update(fraction - bar.n)

        yield tell
