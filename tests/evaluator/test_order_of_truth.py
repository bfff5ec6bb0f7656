"""No output of a track depends on the row order of ground truth files, because this order could reveal answers."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.catalog import TRACKS
from evaluator.problems import InvalidSubmission
from evaluator.request import ScoringRequest
from evaluator.scoring import candidates, prepare, score, template, write_kit
from evaluator.synthesis import synthesize
from evaluator.truth import Truth
from tests.evaluator.options import with_intervals
from tests.evaluator.test_private_facts import submissions

RETRIEVAL = "flickr30k-retrieval"
NO_HEADER = ("classes.csv", "relations.csv", "phrases.jsonl")
NOTHING = {"flickr30k-grounding": "[]", RETRIEVAL: '{"image_to_sentence": {}, "sentence_to_image": {}}'}


def mixed(value: Any, chance: random.Random) -> Any:
    """Return a JSON value with shuffled lists and objects, except for lists of numbers, which are boxes."""
    if isinstance(value, dict):
        return dict(chance.sample([(key, mixed(each, chance)) for key, each in value.items()], len(value)))
    if isinstance(value, list) and not all(isinstance(each, int | float) for each in value):
        return chance.sample([mixed(each, chance) for each in value], len(value))
    return value


def permute(truth: Path, chance: random.Random) -> None:
    for path in sorted(truth.iterdir()):
        if path.suffix == ".json":
            path.write_text(json.dumps(mixed(json.loads(path.read_text()), chance)))
        elif path.name != "salt.txt":
            lines = path.read_text().splitlines(keepends=True)
            kept = 0 if path.name in NO_HEADER else 1
            path.write_text("".join(lines[:kept] + chance.sample(lines[kept:], len(lines) - kept)))


def shown(track: str, truth: Path, files: list[Path], out: Path) -> list[Any]:
    """Return all output for participants except scores: files such as the check kit, and defects or notices."""
    prepared = out / "truth.podium"
    prepare(track, truth, prepared)
    given: list[Any] = []
    for write in (template, write_kit, candidates) if TRACKS[track].gives_candidates else (template, write_kit):
        write(track, prepared, out / "out")
        given.append((out / "out").read_bytes())
    names_all = [each.name for each in TRACKS[track].parameters if each.name == "require_all_images"]
    for parameters in ({}, dict.fromkeys(names_all, True)):
        given += [findings(track, prepared, file, parameters) for file in files]
    return given


def findings(track: str, truth: Path, file: Path, parameters: dict[str, Any]) -> Any:
    try:
        return score(ScoringRequest(track, truth, file, parameters=parameters)).as_dict()["notices"]
    except InvalidSubmission as error:
        return error.findings.as_dict()


@pytest.mark.parametrize("track", TRACKS)
def test_the_order_of_rows_in_a_truth_changes_no_output(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path / "made", images=12, seed=3, qualities=(0.6,))
    files = submissions(tmp_path / "made", track)
    sound = files[0].read_text()
    for name, text in {"no rows": "".join(sound.splitlines(keepends=True)[:1]), "nothing": NOTHING.get(track)}.items():
        if text is not None:
            files.append(tmp_path / name)
            files[-1].write_text(text)
    truth = tmp_path / "made" / "truth"
    expected = shown(track, truth, files, tmp_path)
    for seed in range(3):
        permute(truth, random.Random(seed))
        assert shown(track, truth, files, tmp_path) == expected


def test_missing_captions_are_listed_by_their_ids(tmp_path: Path) -> None:
    synthesize(RETRIEVAL, tmp_path / "made", images=12, seed=3, qualities=())
    permute(tmp_path / "made" / "truth", random.Random(0))
    (tmp_path / "nothing").write_text(NOTHING[RETRIEVAL])
    told = findings(RETRIEVAL, tmp_path / "made" / "truth", tmp_path / "nothing", {})
    missing = [one["image"] for one in told["errors"] if one["column"] == "$.sentence_to_image"]
    assert len(missing) == 8
    assert missing == sorted(missing)


def test_a_truth_prepared_in_file_order_gives_the_same_output_and_scores(tmp_path: Path) -> None:
    """Earlier versions of the evaluator did not sort the rows when they prepared a ground truth."""
    synthesize(RETRIEVAL, tmp_path / "made", images=12, seed=3, qualities=(0.5,))
    prepare(RETRIEVAL, tmp_path / "made" / "truth", tmp_path / "now.podium")
    now = Truth.load(tmp_path / "now.podium")
    order = np.random.default_rng(1).permutation(len(now.texts["captions"]))
    texts = {name: [now.texts[name][place] for place in order] for name in ("captions", "sentences")}
    arrays = {**now.arrays, "caption_images": now.arrays["caption_images"][order]}
    replace(now, texts={**now.texts, **texts}, arrays=arrays).save(tmp_path / "earlier.podium")
    (tmp_path / "nothing").write_text(NOTHING[RETRIEVAL])
    (submission,) = (tmp_path / "made" / "submissions").iterdir()
    before, after = (tmp_path / f"{name}.podium" for name in ("earlier", "now"))
    one, other = (findings(RETRIEVAL, truth, tmp_path / "nothing", {}) for truth in (before, after))
    assert one == other
    reports = [
        score(ScoringRequest(RETRIEVAL, truth, submission, report=with_intervals(20))) for truth in (before, after)
    ]
    assert reports[0].as_dict() == reports[1].as_dict()
    for write in (template, candidates):
        given = []
        for truth in (before, after):
            write(RETRIEVAL, truth, tmp_path / "out")
            given.append((tmp_path / "out").read_bytes())
        assert given[0] == given[1]
