"""Repeated keys in JSON are reported with their paths at any depth, and no JSON file causes an unexpected exception."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.catalog import TRACKS
from evaluator.files.documents import parse_json
from evaluator.problems import InvalidTruth
from evaluator.scoring import check, prepare

KEYS = ("a", "b", "boxes", "image_id", "image_to_sentence")
JSON_TRACKS = [name for name, track in TRACKS.items() if track.form.suffix == "json"]

leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=2)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for lists and objects.

    An object is a tuple of (key, value) pairs, so that it can repeat keys.
    """
    return st.lists(inner, max_size=4) | st.lists(st.tuples(st.sampled_from(KEYS), inner), max_size=4).map(tuple)


documents = st.recursive(leaves, containers, max_leaves=25)


def written(node: Any) -> str:
    if isinstance(node, tuple):
        return "{" + ",".join(f"{json.dumps(key)}:{written(value)}" for key, value in node) + "}"
    if isinstance(node, list):
        return "[" + ",".join(map(written, node)) + "]"
    return json.dumps(node)


def repeating(node: Any, path: str = "$") -> list[str]:
    """Return the paths of objects with repeated keys. Only the last value of a repeated key is searched."""
    if isinstance(node, list):
        return [found for place, each in enumerate(node) for found in repeating(each, f"{path}[{place}]")]
    if not isinstance(node, tuple):
        return []
    last = dict(node)
    own = [path] if len(last) < len(node) else []
    return own + [found for key, value in last.items() for found in repeating(value, f"{path}.{key}")]


def codes(track: str, content: bytes) -> dict[str, int]:
    with TemporaryDirectory() as folder:
        (Path(folder) / "submission.json").write_bytes(content)
        return check(track, Path(folder) / "submission.json").counts


@given(documents)
def test_every_repeated_key_in_the_parsed_document_is_reported_with_its_path(document: Any) -> None:
    _, repeated = parse_json(written(document))
    assert [path.rpartition(".")[0] for path in repeated] == repeating(document)


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("track", JSON_TRACKS)
@given(document=documents, cut=st.integers(0, 200), noise=st.binary(max_size=3))
def test_arbitrary_bytes_cause_findings_but_no_exception(track: str, document: Any, cut: int, noise: bytes) -> None:
    text = written(document).encode()
    whole = codes(track, text)
    assert not repeating(document) or whole["bad_json"]
    codes(track, text[:cut] + noise + text[cut:])


@pytest.mark.parametrize("track", JSON_TRACKS)
@pytest.mark.parametrize("text", ['{"a":{"b":1,"b":2},"a":1}', '[{"a":{"b":1,"b":2},"a":1}]'])
def test_repeated_keys_in_an_overridden_value_do_not_hide_the_overriding_key(track: str, text: str) -> None:
    assert codes(track, text.encode())["bad_json"]
    assert [path.removeprefix("$[0]").removeprefix("$") for path in parse_json(text)[1]] == [".a"]


def test_many_repeated_keys_in_an_overridden_value_do_not_hide_the_overriding_key() -> None:
    lost = ",".join(['{"b":1,"b":2}'] * 10_010)
    text = f'{{"image_to_sentence":[{lost}],"image_to_sentence":{{}},"sentence_to_image":{{}}}}'
    assert list(parse_json(text)[1]) == ["$.image_to_sentence"]
    assert codes("flickr30k-retrieval", text.encode()) == {"bad_json": 1}


def test_repeated_keys_in_a_truth_are_a_fault(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('{"a.png":{"b":1,"b":2},"a.png":1}')
    with pytest.raises(InvalidTruth) as raised:
        prepare("objectnet", tmp_path, tmp_path / "truth.podium")
    assert [(one.file, one.column) for one in raised.value.findings.errors] == [("answers.json", "$.a.png")]
