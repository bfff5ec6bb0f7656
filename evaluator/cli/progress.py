"""A bar on a terminal, and nothing anywhere else."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

Tell = Callable[[str, float], None]


@contextmanager
def progress() -> Iterator[Tell]:
    """Give a function that takes a stage and the fraction of it that is done."""
    if not sys.stderr.isatty():
        yield lambda stage, fraction: None
        return
    tqdm = import_module("tqdm").tqdm  # loaded where somebody looks
    form = "{desc:<13} {percentage:3.0f}% |{bar}| {elapsed}"
    with tqdm(total=1.0, desc="reading", leave=False, file=sys.stderr, bar_format=form) as bar:

        def tell(stage: str, fraction: float) -> None:
            if stage != bar.desc:
                bar.set_description_str(stage, refresh=False)
                bar.reset()
            bar.update(fraction - bar.n)

        yield tell
