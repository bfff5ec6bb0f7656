"""Defines the limits on bundles. A server uses the limits in its settings."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BundleLimits:
    """Limits within which a bundle is copied or unpacked and read.

    Attributes
    ----------
    decompressed_bytes, decompressed_ratio : int
        Maximum size of all files of a bundle, and the maximum ratio of that size to the size of a zip file.
    upload_bytes : int
        Maximum size of a baseline, which is submitted like the file of a team.
    intervals : bool
        Whether confidence intervals are computed, which ladder feedback requires.
    workspace : Path or None
        Folder for temporary files; None for the system default.
    """

    decompressed_bytes: int = 8 * 2**30
    decompressed_ratio: int = 200
    upload_bytes: int = 2 * 2**30
    intervals: bool = True
    workspace: Path | None = None


DEFAULTS = BundleLimits()
