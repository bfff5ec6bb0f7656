"""The modules of each track implement everything that the track declares in the catalogue."""

from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from evaluator.catalog import TRACKS
from evaluator.problems import InvalidParameters
from evaluator.scoring import candidates
from evaluator.tracks import compiler_of, explainer_of, fast_path_of, interface, scorer_of


@pytest.mark.parametrize("name", TRACKS)
def test_every_declared_module_has_the_methods_of_its_protocol(name: str) -> None:
    track = TRACKS[name]
    expected = [(compiler_of(track).compile_truth, ["folder", "parameters"])]
    if track.modules.fast_path:
        fast = fast_path_of(track)
        expected.append((fast.score, ["truth", "request", "parameters", "findings"]))
        expected.append((fast.check, ["truth", "submission", "parameters", "resources", "findings"]))
    if track.modules.explanation:
        explain = explainer_of(track).explain
        expected.append((explain, [*signature(scorer_of(name).evaluate).parameters]))
    for method, parameters in expected:
        assert [*signature(method).parameters] == parameters
    if track.modules.synthesizer:
        assert import_module(track.modules.synthesizer).SYNTHESIZER


@pytest.mark.parametrize("name", TRACKS)
def test_a_scorer_gives_candidates_if_its_track_declares_them(name: str) -> None:
    assert isinstance(scorer_of(name), interface.GivesCandidates) is TRACKS[name].gives_candidates


def test_a_track_without_candidates_refuses_to_write_them(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameters, match="no candidates"):
        candidates("objectnet", tmp_path, tmp_path / "out")


def test_an_unknown_track_is_refused_with_a_list_of_all_tracks() -> None:
    with pytest.raises(InvalidParameters, match="there is no track mnist; the tracks are openimages-detection, "):
        scorer_of("mnist")
