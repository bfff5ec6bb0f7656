"""Reads a bundle: a challenge as a folder or zip file. Every mistake is listed with file and line."""

from server.organize.services.bundles.declared import Baseline, Bundle, BundlePhase
from server.organize.services.bundles.mistakes import SHEET, InvalidBundle
from server.organize.services.bundles.reading import read
from server.organize.services.bundles.unpacking import opened

__all__ = ["SHEET", "Baseline", "Bundle", "BundlePhase", "InvalidBundle", "opened", "read"]
