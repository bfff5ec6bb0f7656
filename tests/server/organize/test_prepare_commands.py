"""Tests the arguments with which an import calls `podium prepare`.

These are the phase's parameters, and the public share and the seed of the random split into public and private images.
If the bundle has a file usage.csv, which lists the public images, the import passes this file instead of a split.
"""

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make", "inline_queue")

Import = Callable[..., list[str]]


def test_the_truth_is_prepared_with_parameters_and_split(
    bundle: BundleFolder, run: Import, quick_podium: list[tuple[str, ...]]
) -> None:
    bundle.sheet(phase="    parameters: {group_of_weight: 0}\n    split: {public: 0.25, seed: 7}\n")
    run()
    asked = " ".join(quick_podium[0])
    assert "--split 0.25 --seed 7" in asked
    assert "--set group_of_weight=0.0" in asked


def test_a_usage_file_takes_the_place_of_the_split(
    bundle: BundleFolder, run: Import, quick_podium: list[tuple[str, ...]]
) -> None:
    bundle.write("phases/main/usage.csv", "ImageID,Usage\na,Public\nb,Private\n")
    run()
    words = dict(pairwise(quick_podium[0]))
    assert words["--usage"].endswith("/phases/main/usage.csv")
    assert "--split" not in quick_podium[0]
