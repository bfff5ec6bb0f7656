"""A bar on a terminal, and nothing anywhere else."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """Give a function that takes a stage and the fraction of it that is done."""
    with tqdm(
        total=1.0,
        desc="reading",
        leave=False,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
        bar_format="{desc:<9} {percentage:3.0f}% |{bar}| {elapsed}",
    ) as bar:

        def tell(stage: str, fraction: float) -> None:
            if bar.disable:
                return
            if stage != bar.desc:
                bar.set_description_str(stage, refresh=False)
                bar.reset()
            bar.update(fraction - bar.n)

        yield tell
