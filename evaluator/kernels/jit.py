"""Kernels are compiled when Podium is set up, never while somebody waits for a score."""

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

from evaluator.kernels import FOLDER


def _stamp() -> str:
    """Name all that machine code depends on: every source of this package, numba, and the processor.

    numba by itself looks at the one file a function stands in, not at those it calls.
    """
    digest = hashlib.sha256()
    for source in sorted(FOLDER.rglob("*.py")):
        digest.update(source.read_bytes())
    processor = binding.get_host_cpu_name(), sorted(binding.get_host_cpu_features().items())
    digest.update(f"{numba.__version__} {processor} {config.BOUNDSCHECK}".encode())
    return digest.hexdigest()[:16]


def _place() -> Path:
    """Return the folder of the machine code: NUMBA_CACHE_DIR, else beside the sources, else the user's own."""
    stamp = _stamp()
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / stamp
    beside = FOLDER / "__pycache__" / stamp
    with suppress(OSError):  # set-up may have filled a folder that we may only read
        beside.mkdir(parents=True, exist_ok=True)
    if (beside / FILLED).exists() or os.access(beside, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "podium" / stamp


FILLED = "filled"
PLACE = _place()


class _Locator(caching.InTreeCacheLocator):
    def get_cache_path(self) -> str:
        return str(PLACE / Path(self._py_file).parent.relative_to(FOLDER))

    def get_source_stamp(self) -> str:
        return PLACE.name

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes: ClassVar = [_Locator]


class _Cache(caching.Cache):
    _impl_class = _Implementation

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # nowhere to write: compiled for this process alone
            super().save_overload(sig, data)


def frozen(dtype: Any, dimensions: int = 1) -> Any:
    """Return numba's type of a read-only array without gaps."""
    return types.Array(dtype, dimensions, "C", readonly=True)


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a piece of kernels: it becomes machine code inside each of them.

    No reference is counted (``_nrt``): kernels own no memory and allocate none, and counting costs more than the work.
    """
    compiled: Callable[..., Any] = njit(error_model="numpy", forceinline=True, _nrt=False)(function)
    return compiled


def outlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a piece of kernels that is rare or large: it is called, not repeated."""
    compiled: Callable[..., Any] = njit(error_model="numpy", _nrt=False)(function)
    return compiled


def kernel(*signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for exactly these argument types, or take it from the cache; it runs without the GIL.

    Divisions by zero give infinity or NaN as in numpy, and nothing is reordered: sums and products are the same to
    the last bit as those of the readable twin.
    """

    def pinned(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = njit(nogil=True, error_model="numpy", _nrt=False)(function)
        compiled._cache = _Cache(function)
        compiled.compile(signature)
        compiled.disable_compile()
        return cast("Callable[..., Any]", compiled)

    return pinned
