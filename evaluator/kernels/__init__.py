"""Functions that numba compiles to machine code, for the parts of scoring that take most of the time.

Every kernel gives the same result, to the last bit, as a reference implementation in numpy. Kernels do not check array
bounds, so callers must pass arrays of the documented shapes. ``python -m evaluator.kernels`` compiles all kernels at
set-up; otherwise the first process that needs them compiles them.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

COMPILING = "compiling"
# An image with more predictions than this is crowded. Kernels drop an unscored prediction that is among the first
# CROWD of its image, and store a later one.
CROWD = 256
FOLDER = Path(__file__).parent


def compile_once(progress: Callable[[str, float], None]) -> None:
    """Compile all kernels and fill the cache, unless the cache of this machine is already full.

    Parameters
    ----------
    progress : callable
        Called with the stage COMPILING and the fraction done. Not called if there is nothing to compile.
    """
    jit = import_module("evaluator.kernels.jit")  # This loads numba, which takes time.
    if (jit.CACHE_FOLDER / jit.FILLED).exists():
        return
    load(progress)
    with suppress(OSError):  # Without a writable folder, only this process has the machine code.
        (jit.CACHE_FOLDER / jit.FILLED).touch()


def load(progress: Callable[[str, float], None]) -> None:
    """Load all machine code, and compile what is not in the cache; ``progress`` is as for :func:`compile_once`."""
    found = walk_packages([str(FOLDER)], f"{__name__}.")
    names = [module.name for module in found if not module.name.endswith("__main__")]
    for number, name in enumerate(names):
        progress(COMPILING, number / len(names))
        import_module(name)
    progress(COMPILING, 1.0)
