"""Defines the size limits and other settings for reading bundles. A server takes them from its settings."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BundleLimits:
    """The limits and settings for copying, unpacking and reading a bundle.

    Attributes
    ----------
    decompressed_bytes, decompressed_ratio : int
        Maximum total size of the files in a bundle. If the bundle is a zip file, also the maximum ratio of this total
        to the size of the zip file.
    upload_bytes : int
        Maximum size of a baseline. Baselines are submitted in the same way as the files of teams.
    intervals : bool
        Whether confidence intervals are computed. They are required for ladder feedback, which shows teams a new score
        only if it is significantly better than their best score.
    workspace : Path or None
        Folder for temporary files; None for the system default.
    """

    decompressed_bytes: int = 8 * 2**30
    decompressed_ratio: int = 200
    upload_bytes: int = 2 * 2**30
    intervals: bool = True
    workspace: Path | None = None


DEFAULTS = BundleLimits()
