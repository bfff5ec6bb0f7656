"""The attributes of each subclass of `Truth` have the declared types and the values in the prepared file."""

from inspect import getmembers_static
from typing import get_args

import numpy as np
import pytest

from evaluator.catalog import TRACKS
from evaluator.scoring import prepare
from evaluator.synthesis import synthesize
from evaluator.tracks import scorer_of
from evaluator.tracks.compiling import open_truth
from evaluator.tracks.shared.label_truth import StoredIndex
from evaluator.truth import StoredArray, StoredTexts, Truth


@pytest.fixture(scope="module", params=list(TRACKS))
def truth(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Truth:
    folder = tmp_path_factory.mktemp(request.param)
    synthesize(request.param, folder / "challenge", images=10, qualities=())
    prepare(request.param, folder / "challenge" / "truth", folder / "truth.podium")
    opened = open_truth(scorer_of(request.param), folder / "truth.podium")
    assert isinstance(opened, Truth)
    return opened


def test_every_member_is_in_the_prepared_file_with_its_type(truth: Truth) -> None:
    found = {}
    for name, member in getmembers_static(type(truth)):
        if isinstance(member, StoredArray):
            (element,) = get_args(member.__orig_class__)
            found[name] = element, getattr(truth, name).dtype.type
        if isinstance(member, StoredTexts):
            assert all(isinstance(text, str) for text in getattr(truth, name)), name
        if isinstance(member, StoredIndex):
            found[name] = [np.int32, np.int32, np.uint64], [array.dtype.type for array in getattr(truth, name)]
    assert found
    assert {name: stored for name, (_, stored) in found.items()} == {name: type_ for name, (type_, _) in found.items()}
