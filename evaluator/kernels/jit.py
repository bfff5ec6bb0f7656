"""Compiles kernels with numba, and caches their machine code.

The cache is filled when Podium is set up, so that scoring never waits for the compiler.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, cast

import numba
from llvmlite import binding
from numba import config, njit, types
from numba.core import caching

from evaluator.draws import LANES
from evaluator.kernels import FOLDER


def _stamp() -> str:
    """Return a hash of everything that affects the machine code, such as the sources, numba and the processor.

    numba's own cache checks only the file in which a function is defined, not the files of the functions it calls.
    """
    digest = hashlib.sha256()
    for source in sorted(FOLDER.rglob("*.py")):
        digest.update(source.read_bytes())
    processor = binding.get_host_cpu_name(), sorted(binding.get_host_cpu_features().items())
    # LANES is the only constant of the kernels that is defined outside their folder.
    digest.update(f"{numba.__version__} {processor} {config.BOUNDSCHECK} {LANES}".encode())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """Return the folder in which the machine code of kernels is cached.

    The folder is in NUMBA_CACHE_DIR if this variable is set. Otherwise, it is next to the sources or in the user's
    cache folder.
    """
    stamp = _stamp()
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / stamp
    beside = FOLDER / "__pycache__" / stamp
    # Creating the cache folder fails if the folder of the sources is read-only. An existing cache folder may already
    # contain the machine code.
    with suppress(OSError):
        beside.mkdir(parents=True, exist_ok=True)
    if (beside / FILLED).exists() or os.access(beside, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "podium" / stamp


# Name of the file that marks a cache folder as complete: it contains the machine code of all kernels.
FILLED = "filled"
CACHE_FOLDER = _cache_folder()


class _Locator(caching.InTreeCacheLocator):
    def get_cache_path(self) -> str:
        return str(CACHE_FOLDER / Path(self._py_file).parent.relative_to(FOLDER))

    def get_source_stamp(self) -> str:
        return CACHE_FOLDER.name

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes: ClassVar = [_Locator]


class _Cache(caching.Cache):
    _impl_class = _Implementation

    def save_overload(self, sig: Any, data: Any) -> None:
        # If the cache folder is read-only, machine code cannot be stored, but it can still be used.
        with suppress(OSError):
            super().save_overload(sig, data)


def read_only(dtype: Any, dimensions: int = 1) -> Any:
    """Return the numba type for a read-only C-contiguous array."""
    return types.Array(dtype, dimensions, "C", readonly=True)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function so that it is inlined into every kernel that calls it.

    Reference counting is off (``_nrt=False``): kernels allocate no memory, and counting would take half of their time.
    """
    compiled: Callable[..., Any] = njit(error_model="numpy", forceinline=True, _nrt=False)(function)
    return compiled


def subroutine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call but do not inline, for example because it is rarely executed."""
    compiled: Callable[..., Any] = njit(error_model="numpy", _nrt=False)(function)
    return compiled


def kernel(*signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a function for the given argument types, or loads it from the cache.

    The function runs without the GIL.

    Division by zero gives infinity or NaN, as in numpy. Floating-point operations are not reordered, so that results
    are bit-identical to those of the reference implementation.
    """

    def compiled_for_signature(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = njit(nogil=True, error_model="numpy", _nrt=False)(function)
        compiled._cache = _Cache(function)
        compiled.compile(signature)
        compiled.disable_compile()
        return cast("Callable[..., Any]", compiled)

    return compiled_for_signature
