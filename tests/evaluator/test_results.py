"""`podium verify` accepts signed results, and explains why it rejects a changed digit, rank, name or key."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli import main, verify
from evaluator.signing import canonical, public_key, sign
from tests.evaluator.signed_results import OTHER_SEED, SEED, document, places, replaced

KEY = public_key(SEED)
Verify = Callable[..., tuple[int, str]]
FIRST = ("leaderboards", 0, "entries", 0)
LAST = ("leaderboards", 0, "entries", 4)


@pytest.fixture
def verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Return a function that writes a file, verifies it, and returns the exit code and the output."""

    def run(content: bytes, *words: object) -> tuple[int, str]:
        path = tmp_path / "results.json"
        path.write_bytes(content)
        code = main(["verify", str(path), *map(str, words)])
        out, err = capsys.readouterr()
        return code, out + err

    return run


def test_results_are_accepted_with_the_key_of_the_server(verified: Verify, tmp_path: Path) -> None:
    answer = tmp_path / "key.json"
    answer.write_text(json.dumps({"algorithm": "Ed25519", "public_key": KEY}))
    plain = tmp_path / "key.txt"
    plain.write_text(f"{KEY.upper()}\n")
    for key in (KEY, KEY.upper(), answer, plain):
        code, out = verified(sign(document(), SEED), "--key", key)
        assert code == 0
        assert f"valid; key {KEY}: the given key" in out
        assert "6 entries: the ranks match the scores" in out
        assert out.endswith("accepted\n")


def test_without_a_key_the_output_states_that_only_the_integrity_is_shown(verified: Verify) -> None:
    code, out = verified(sign(document(), OTHER_SEED))
    assert code == 0
    assert public_key(OTHER_SEED) in out
    assert "but not who signed it" in out


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*LAST, "score"), 2e-07),
        ((*FIRST, "scores", "mAP"), 0.31),
        ((*FIRST, "rank"), 2),
        ((*FIRST, "team"), "Bares"),
    ],
    ids=["a digit of a score", "a digit of a metric", "a rank", "a name"],
)
def test_one_change_is_refused_and_the_signature_named(path: Any, value: Any, verified: Verify) -> None:
    signed = json.loads(sign(document(), SEED))
    code, out = verified(canonical(replaced(signed, ("results", *path), value)), "--key", KEY)
    assert code == 6
    assert "the signature does not match the content: the file was changed after it was signed" in out
    assert out.endswith("refused\n")


def test_every_character_of_a_file_matters(verified: Verify) -> None:
    content = sign(document(), SEED)
    for place in range(0, len(content), 37):
        changed = bytearray(content)
        changed[place] = ord("1") if changed[place] != ord("1") else ord("2")
        assert verified(bytes(changed), "--key", KEY)[0] in (6, 7)


def test_a_key_of_somebody_else_is_refused_with_its_own_code(verified: Verify) -> None:
    code, out = verified(sign(document(), OTHER_SEED), "--key", KEY)
    assert code == 7
    assert "signed with the key 3d4017c3e843895a…, not with the expected key d75a980182b10ab7…" in out


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ((*LAST, "rank"), 3, "public: the team “Eels” has rank 3, but according to its score it should have rank 4"),
        (
            (*LAST, "rank"),
            None,
            "public: the team “Eels” has no rank, but according to its score it should have rank 4",
        ),
        (
            ("leaderboards", 0, "entries", 1, "rank"),
            2,
            "the team “Baseline” has rank 2, but according to its score it should have no rank",
        ),
        ((*LAST, "score"), 0.9, "public: the team “Eels” is listed below the team “Dogs”, which has a lower score"),
        ((*LAST, "score"), 1, "score is missing or has an invalid value"),
        ((*LAST, "rank"), True, "rank is missing"),
        ((*LAST, "team"), None, "team is missing"),
        (("format",), "podium-results-2", "another version of Podium"),
        (("truth",), [], "truth is missing or is not an object"),
        (("leaderboards",), [[]], "a leaderboard is missing or is not an object"),
        (("leaderboards", 0, "entries"), {}, "entries is missing"),
        (("leaderboards", 0, "split"), "\x1b[2Kaccepted", "the split of a leaderboard is not public, private or all"),
        (("leaderboards", 1, "split"), "public", "two leaderboards for the same split"),
        (("leaderboards",), [], "there is no leaderboard"),
        (("truth", "sha256"), "\x1b[2K", "is not 64 hexadecimal digits"),
        (("decimals",), -1, "decimals is not a number from 0 to 15"),
    ],
)
def test_wrong_results_are_refused_even_with_a_valid_signature(
    path: Any, value: Any, reason: str, verified: Verify
) -> None:
    code, out = verified(sign(replaced(document(), path, value), SEED), "--key", KEY)
    assert code == 6
    assert reason in out
    assert "\x1b" not in out


def test_preliminary_results_are_marked_with_the_reasons(verified: Verify) -> None:
    content = sign(document(final=False, unfinished=["a rescoring is open", "\x1b[2K"]), SEED)
    code, out = verified(content)
    assert code == 0
    assert "PRELIMINARY when these results were exported: a rescoring is open; " in out
    assert "\x1b" not in out
    answer = json.loads(verified(content, "--json")[1])
    assert (answer["is_final"], answer["unfinished"][0]) == (False, "a rescoring is open")


def test_files_of_earlier_versions_have_no_reasons(verified: Verify) -> None:
    earlier = document(final=False)
    del earlier["unfinished"]
    code, out = verified(sign(earlier, SEED))
    assert (code, "PRELIMINARY when these results were exported: the phase had not closed" in out) == (0, True)


def test_a_server_with_a_new_key_still_accepts_results_of_its_earlier_keys(verified: Verify, tmp_path: Path) -> None:
    response = tmp_path / "key.json"
    response.write_text(json.dumps({"public_key": public_key(OTHER_SEED), "earlier_keys": [KEY]}))
    code, out = verified(sign(document(), SEED), "--key", response)
    assert (code, "an earlier key of the server" in out) == (0, True)
    response.write_text(json.dumps({"public_key": public_key(OTHER_SEED), "earlier_keys": []}))
    assert verified(sign(document(), SEED), "--key", response)[0] == 7


@pytest.mark.parametrize("path", list(places(document())), ids=lambda path: ".".join(map(str, path)))
def test_no_signed_value_causes_an_internal_error(path: Any, verified: Verify, tmp_path: Path) -> None:
    (tmp_path / "truth").mkdir()
    for value in (None, -1, 10**400, "\x1b[2J", [], {}, 1e308, True):
        code, out = verified(sign(replaced(document(), path, value), SEED), "--truth", tmp_path / "truth")
        assert code in (3, 6)
        assert "\x1b" not in out


def test_rounded_scores_need_ranks_that_are_possible(verified: Verify) -> None:
    rounded = document(decimals=1)
    equal_with_other_ranks = replaced(rounded, ("leaderboards", 0, "entries", 3, "rank"), 3)
    assert verified(sign(rounded, SEED))[0] == 0
    assert verified(sign(equal_with_other_ranks, SEED))[0] == 0
    code, out = verified(sign(replaced(rounded, (*LAST, "rank"), 3), SEED))
    assert (code, "these ranks are impossible for any exact scores that round to the given values" in out) == (6, True)


def test_a_file_that_is_too_large_is_not_parsed(verified: Verify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "FILE_BYTES", 2**20)
    assert verified(b" " * 2**20)[1].count("not JSON") == 1
    code, out = verified(b" " * (2**20 + 1))
    assert (code, "more than 1 MB" in out) == (6, True)


def test_json_has_the_findings(verified: Verify) -> None:
    answer = json.loads(verified(sign(document(), SEED), "--key", KEY, "--json")[1])
    assert answer["accepted"] is True
    assert answer["public_key"] == KEY
    assert answer["key_given"] is True
    assert answer["problems"] == []
    answer = json.loads(verified(b"{}", "--json")[1])
    assert (answer["accepted"], answer["public_key"], len(answer["problems"])) == (False, None, 1)


@pytest.mark.parametrize(
    "words",
    [["--key", "d75a"], ["--key", "absent.json"], ["--submissions", "."], ["--seed", "1"], ["--truth", "absent"]],
    ids=" ".join,
)
def test_a_wrong_option_is_wrong_usage(words: list[str], verified: Verify) -> None:
    assert verified(sign(document(), SEED), *words)[0] == 64


def test_a_file_without_a_key_is_wrong_usage(verified: Verify, tmp_path: Path) -> None:
    for content in (b"[]", b"{}", b"\x80", b"[" * 9000, KEY.encode() * 2):
        (tmp_path / "key.json").write_bytes(content)
        assert verified(sign(document(), SEED), "--key", tmp_path / "key.json")[0] == 64
