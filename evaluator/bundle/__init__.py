"""Reads and checks bundles. A bundle is a folder or zip file that defines a challenge.

All errors are listed with file, line and key. The server imports a bundle with the functions of this package.
``podium check-bundle`` checks a bundle without a server.
"""

from evaluator.bundle.declared import Baseline, Bundle, BundlePhase
from evaluator.bundle.limits import BundleLimits
from evaluator.bundle.mistakes import SHEET, InvalidBundle, Mistakes
from evaluator.bundle.reading import read, read_with_mistakes
from evaluator.bundle.unpacking import opened

__all__ = [
    "SHEET",
    "Baseline",
    "Bundle",
    "BundleLimits",
    "BundlePhase",
    "InvalidBundle",
    "Mistakes",
    "opened",
    "read",
    "read_with_mistakes",
]
