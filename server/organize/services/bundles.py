"""Opens and reads bundles (zip files or folders with a challenge) within the limits in the settings.

The implementation is in the package `evaluator.bundle`.
"""

from contextlib import AbstractContextManager
from pathlib import Path

from django.conf import settings

from evaluator import bundle
from evaluator.bundle import Bundle, BundleLimits, Mistakes


def limits() -> BundleLimits:
    return BundleLimits(
        decompressed_bytes=settings.DECOMPRESSED_MAX_BYTES,
        decompressed_ratio=settings.DECOMPRESSED_MAX_RATIO,
        upload_bytes=settings.UPLOAD_MAX_BYTES,
        intervals=settings.INTERVAL_REPLICATES > 0,
        workspace=settings.FILE_UPLOAD_TEMP_DIR,
    )


def opened(path: Path) -> AbstractContextManager[Path]:
    """Return a context manager for a temporary folder with the files of the bundle."""
    return bundle.opened(path, limits())


def read(folder: Path) -> Bundle:
    """Read an unpacked bundle (a folder with a challenge). Raises InvalidBundle with all errors.

    Ground truths and submissions are not checked.
    """
    return bundle.read(folder, limits())


def read_with_mistakes(folder: Path, mistakes: Mistakes) -> Bundle:
    """Read an unpacked bundle (a folder with a challenge), adding its errors and warnings to `mistakes`."""
    return bundle.read_with_mistakes(folder, mistakes, limits())
