"""The few functions that earn their speed: machine code made by numba, each with a readable twin in the tests.

They look at bytes and arrays without bounds checks; whoever calls them keeps to their contracts. ``python -m
evaluator.kernels`` compiles all of them once, at set-up; where that was never done, the first who needs them does it.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

COMPILING = "compiling"
FOLDER = Path(__file__).parent


def compile_once(progress: Callable[[str, float], None]) -> None:
    """Fill the cache of machine code, unless that was done on this machine.

    Parameters
    ----------
    progress : callable
        Gets the stage COMPILING and the fraction that is done; is not called where nothing has to be compiled.
    """
    cache = import_module("evaluator.kernels.jit")  # loads numba
    if (cache.PLACE / cache.FILLED).exists():
        return
    load(progress)
    with suppress(OSError):  # nowhere to write: compiled for this process alone
        (cache.PLACE / cache.FILLED).touch()


def load(progress: Callable[[str, float], None]) -> None:
    """Load all machine code, compiled first where it is not in the cache; progress as for :func:`compile_once`."""
    found = walk_packages([str(FOLDER)], f"{__name__}.")
    names = [module.name for module in found if not module.name.endswith("__main__")]
    for number, name in enumerate(names):
        progress(COMPILING, number / len(names))
        import_module(name)
    progress(COMPILING, 1.0)
