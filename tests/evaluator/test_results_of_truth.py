"""`podium verify` can check signed results against the ground truth, the public/private split and submitted files."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.cli import main
from evaluator.signing import sign
from tests.evaluator.conftest import Tiny
from tests.evaluator.signed_results import SEED, document, entry, replaced

Verify = Callable[..., tuple[int, str]]
SALT = "000102030405060708090a0b0c0d0e0f\n"
USAGE = "ImageID,Usage\nstreet,Public\nkitchen,Private\ngarden,Public\n"
OF_KITCHEN = ("leaderboards", 1, "entries", 0)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Verify:
    def podium(*words: object) -> tuple[int, str]:
        code = main([str(word) for word in words])
        return code, capsys.readouterr().out

    return podium


@pytest.fixture
def results(tiny: Tiny, tmp_path: Path, run: Verify) -> dict[str, Any]:
    """Return the results of a phase in which one team has submitted the file ``long`` of the fixture ``tiny``."""
    (tiny.truth / "salt.txt").write_text(SALT)
    (tiny.truth / "usage.csv").write_text(USAGE)
    files = tmp_path / "files"
    files.mkdir()
    tiny.long.rename(files / "long.csv")
    prepared = tmp_path / "truth.podium"
    described = tmp_path / "statistics.json"
    words = (tiny.track, "--truth", tiny.truth)
    made = json.loads(run("prepare", *words, "--out", prepared, "--statistics", described, "--json")[1])
    report = json.loads(run("score", *words, "--submission", files / "long.csv", "--json")[1])
    content = (files / "long.csv").read_bytes()

    def board(split: str) -> dict[str, Any]:
        metrics = report["splits"][split]["metrics"]
        own = {"scores": metrics, "submission_sha256": sha256(content).hexdigest()}
        gone = entry(None, "Gone", 0.0, submission_sha256=None)
        return {"split": split, "entries": [entry(1, "Owls", metrics["mAP"], **own), gone]}

    usage_hash = json.loads(described.read_text())["usage_hash"]
    return document(
        track=tiny.track,
        parameters=TRACKS[tiny.track].resolve({}),
        signature=report["signature"],
        truth={"version": 1, "sha256": made["sha256"], "usage_hash": usage_hash},
        leaderboards=[board("public"), board("private")],
    )


@pytest.fixture
def verified(run: Verify, tiny: Tiny, tmp_path: Path) -> Verify:
    def verify(results: dict[str, Any], *words: object) -> tuple[int, str]:
        path = tmp_path / "results.json"
        path.write_bytes(sign(results, SEED))
        return run("verify", path, *(words or ("--truth", tiny.truth, "--submissions", tmp_path / "files")))

    return verify


def test_the_truth_and_all_scores_are_checked(results: dict[str, Any], verified: Verify, tmp_path: Path) -> None:
    code, out = verified(results)
    assert code == 0
    assert "sha256 and usage match" in out
    assert "2 entries scored again with identical scores" in out
    assert "no file    public: the team “Gone”\nno file    private: the team “Gone”\n" in out
    # The option --truth also accepts a prepared ground truth file instead of a folder.
    assert verified(results, "--truth", tmp_path / "truth.podium")[0] == 0


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("boxes.csv", "0.6,0.9", "0.6,0.8"), ("usage.csv", "kitchen,Private", "kitchen,Ignored"), ("salt.txt", "f", "e")],
)
def test_another_truth_is_refused(
    name: str, old: str, new: str, results: dict[str, Any], verified: Verify, tiny: Tiny
) -> None:
    path = tiny.truth / name
    path.write_text(path.read_text().replace(old, new))
    code, out = verified(results)
    assert code == 3
    assert f"the results belong to the ground truth {results['truth']['sha256']}, but this is" in out


def test_a_missing_salt_is_named(results: dict[str, Any], verified: Verify, tiny: Tiny) -> None:
    (tiny.truth / "salt.txt").unlink()
    code, out = verified(results)
    assert (code, "a file such as salt.txt or usage.csv is missing" in out) == (3, True)


def test_another_usage_hash_is_refused(results: dict[str, Any], verified: Verify) -> None:
    code, out = verified(replaced(results, ("truth", "usage_hash"), "ab" * 32))
    assert (code, "the usage of the images differs from that in the results" in out) == (3, True)
    assert verified(replaced(results, ("truth", "usage_hash"), None))[0] == 0


@pytest.mark.parametrize("field", ["score", "scores"])
def test_a_score_that_the_file_does_not_have_is_refused(field: str, results: dict[str, Any], verified: Verify) -> None:
    wrong = 0.123 if field == "score" else {"mAP": 0.123}
    code, out = verified(replaced(results, (*OF_KITCHEN, field), wrong))
    assert code == 6
    assert "private: the team “Owls”: its file long.csv has different scores" in out
    assert "public: the team “Owls”" not in out


def test_a_file_with_defects_has_no_score(results: dict[str, Any], verified: Verify, tmp_path: Path) -> None:
    content = b"no submission"
    (tmp_path / "files" / "bad.csv").write_bytes(content)
    code, out = verified(replaced(results, (*OF_KITCHEN, "submission_sha256"), sha256(content).hexdigest()))
    assert code == 6
    assert "its file bad.csv has defects and no score" in out


def test_rounded_scores_are_compared_after_rounding(results: dict[str, Any], verified: Verify) -> None:
    rounded = {**results, "decimals": 2}
    for board, place in ((0, 0), (1, 0)):
        path = ("leaderboards", board, "entries", place)
        score = round(results["leaderboards"][board]["entries"][place]["score"], 2)
        rounded = replaced(replaced(rounded, (*path, "score"), score), (*path, "scores"), {"mAP": score})
    assert verified(rounded)[0] == 0
    assert verified({**rounded, "decimals": 3})[0] == 6


def test_a_drawn_split_is_drawn_again(tiny: Tiny, results: dict[str, Any], verified: Verify, run: Verify) -> None:
    (tiny.truth / "usage.csv").unlink()
    out = tiny.truth.parent / "drawn.podium"
    words = (tiny.track, "--truth", tiny.truth, "--out", out, "--split", 0.5, "--json")
    made = json.loads(run("prepare", *words)[1])
    drawn = {**results, "public_share": 0.5, "truth": {"version": 1, "sha256": made["sha256"], "usage_hash": None}}
    assert verified(drawn, "--truth", tiny.truth)[0] == 0
    assert verified({**drawn, "public_share": 1.0}, "--truth", tiny.truth)[0] == 3


def test_scores_of_another_version_are_not_compared(results: dict[str, Any], verified: Verify) -> None:
    other = results["signature"].rpartition(":")[0] + ":0.9.0"
    code, out = verified({**results, "signature": other})
    assert (code, "the scores cannot be recomputed" in out) == (6, True)


def test_settings_that_this_version_does_not_have_are_refused(results: dict[str, Any], verified: Verify) -> None:
    assert verified({**results, "track": "no-such-track"})[0] == 6
    assert verified({**results, "parameters": {"no_such": 1}})[0] == 6
