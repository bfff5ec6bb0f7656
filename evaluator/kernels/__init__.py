"""Functions that numba compiles to machine code, for the parts of scoring that take most of the time.

The results of every kernel are bit-identical to those of a reference implementation in numpy. Kernels do not check
array bounds, so callers must pass arrays of the documented shapes. ``python -m evaluator.kernels`` compiles all kernels
during set-up. Otherwise, the first process that needs them compiles them.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

COMPILING = "compiling"
# Among the first CROWD predictions of an image, kernels discard those that are not scored, for example because their
# class is unknown. All later predictions are kept, so that the running time for a file with many predictions does not
# reveal which of them are scored. An image with more than CROWD predictions is called crowded.
CROWD = 256
# Only detections with a confidence above this value are scored, as in the official Open Images code.
LOWEST_CONFIDENCE = -10.0
FOLDER = Path(__file__).parent


def compile_once(progress: Callable[[str, float], None]) -> None:
    """Compile all kernels and cache their machine code, unless all of them are already in the cache.

    Parameters
    ----------
    progress : callable
        Called with the name of the current stage, which is :data:`COMPILING`, and the completed fraction. Not called if
        there is nothing to compile.
    """
    # `evaluator.kernels.jit` is imported only when needed, because it loads numba, which is slow.
    jit = import_module("evaluator.kernels.jit")
    if (jit.CACHE_FOLDER / jit.FILLED).exists():
        return
    load(progress)
    with suppress(OSError):  # If the cache folder is read-only, the file that marks it as complete cannot be created.
        (jit.CACHE_FOLDER / jit.FILLED).touch()


def load(progress: Callable[[str, float], None]) -> None:
    """Load all kernels, and compile those that are not cached. See :func:`compile_once` for ``progress``."""
    found = walk_packages([str(FOLDER)], f"{__name__}.")
    names = [module.name for module in found if not module.name.endswith("__main__")]
    for number, name in enumerate(names):
        progress(COMPILING, number / len(names))
        import_module(name)
    progress(COMPILING, 1.0)
