"""The output of ``podium`` is exactly one JSON object with --json, and plain text without it."""

import csv
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.cli import COMMANDS, main
from evaluator.problems import visible
from tests.evaluator.conftest import Tiny

pytestmark = pytest.mark.usefixtures("no_colour")
Run = Callable[..., tuple[int, str]]
NO_CAR = "classes.csv: truth_class_without_objects: 1 label has no objects, so it has no score: '/m/0k4j'"


@pytest.fixture
def no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def podium(*words: object) -> tuple[int, str]:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert err in ("", f"warning: {NO_CAR}\n")
        return code, out

    return podium


def scored(run: Run, tiny: Tiny, *words: object, submission: Path | None = None) -> dict[str, Any]:
    given = "--truth", tiny.truth, "--submission", submission or tiny.long
    code, out = run("score", tiny.track, *given, "--json", *words)
    assert code == 0
    answer: dict[str, Any] = json.loads(out)
    return answer


@pytest.mark.parametrize("shape", ["long", "kaggle"])
def test_the_tiny_case_has_the_official_numbers(shape: str, run: Run, tiny: Tiny) -> None:
    everything = scored(run, tiny, submission=getattr(tiny, shape))["splits"]["all"]
    assert everything["headline"] == "mAP"
    assert everything["metrics"] == {"mAP": 0.5833333333333333}
    numbers = ("ap", "truths", "scored", "true_positives", "false_positives")
    assert {row["name"]: tuple(row[name] for name in numbers) for row in everything["classes"]} == {
        "Cat": (0.9166666666666666, 3.0, 5, 3.0, 2),
        "Dog": (0.25, 2.0, 2, 1.0, 1),
        "Car": (None, 0.0, 1, 0.0, 1),
    }


def test_a_report_has_the_documented_keys(run: Run, tiny: Tiny) -> None:
    answer = scored(run, tiny)
    assert {"track", "signature", "parameters", "splits"} <= set(answer)
    assert set(answer["splits"]) == {"all", "public"}
    assert set(answer["splits"]["all"]) == {"headline", "metrics", "intervals", "classes"}
    assert answer["signature"].startswith("openimages-detection|iou:0.5|groupof:1|")


def test_both_file_layouts_and_a_prepared_truth_give_equal_reports(run: Run, tiny: Tiny, tmp_path: Path) -> None:
    prepared = tmp_path / "truth.podium"
    assert run("prepare", tiny.track, "--truth", tiny.truth, "--out", prepared)[0] == 0
    for shape in ("kaggle", "long"):
        assert run("convert", tiny.track, "--to", shape, tiny.long, tmp_path / f"{shape}-again.csv") == (0, "")
    first = scored(run, tiny)
    for submission in (tiny.kaggle, tmp_path / "kaggle-again.csv", tmp_path / "long-again.csv"):
        assert scored(run, tiny, submission=submission)["splits"] == first["splits"]
    code, out = run("score", tiny.track, "--truth", prepared, "--submission", tiny.long, "--json")
    assert (code, json.loads(out)) == (0, first)


def test_images_that_a_second_truth_makes_public_are_counted(run: Run, tiny: Tiny, tmp_path: Path) -> None:
    images = json.loads(run("prepare", tiny.track, "--truth", tiny.truth, "--out", tmp_path / "all", "--json")[1])[
        "images"
    ]
    private = tmp_path / "private"
    assert run("prepare", tiny.track, "--truth", tiny.truth, "--split", "0", "--out", private)[0] == 0
    assert run("reveals", private, tmp_path / "all") == (0, f"private images that would become public: {images}\n")
    assert run("reveals", tmp_path / "all", private, "--json") == (0, '{"newly_public": 0}\n')


def test_the_set_option_changes_the_score_and_the_signature(run: Run, tiny: Tiny) -> None:
    answer = scored(run, tiny, "--set", "group_of_weight=0", "--set", "iou_threshold=0.75")
    assert answer["parameters"]["group_of_weight"] == 0.0
    assert "|iou:0.75|groupof:0|" in answer["signature"]
    assert answer["splits"]["all"]["metrics"]["mAP"] != 0.5833333333333333


@pytest.mark.parametrize("how", [["--split", "0.5", "--seed", "1"], ["--usage", "usage.csv"]])
def test_a_public_share_gives_three_splits(
    how: list[str], run: Run, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "usage.csv").write_text("ImageID,Usage\nstreet,Public\nkitchen,Private\ngarden,Private\n")
    assert set(scored(run, tiny, *how)["splits"]) == {"all", "public", "private"}


def test_json_written_to_a_file_leaves_the_printed_text_unchanged(run: Run, tiny: Tiny, tmp_path: Path) -> None:
    words = ("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long)
    code, out = run(*words, "--json", tmp_path / "report.json")
    assert (code, out) == run(*words)
    assert json.loads((tmp_path / "report.json").read_text()) == scored(run, tiny)
    assert not list(tmp_path.glob(".*"))


def test_the_text_has_the_headline_first_and_the_signature_last(run: Run, tiny: Tiny) -> None:
    lines = run("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long)[1].splitlines()
    assert lines[0].split() == ["mAP", "0.58333"]
    assert lines[1].split() == ["classes", "2", "of", "3"]
    assert lines[-2].startswith("notice: unknown_image")
    assert lines[-1].startswith("openimages-detection|")


def test_intervals_are_printed_next_to_the_scores(run: Run, tiny: Tiny) -> None:
    words = ("--bootstrap", "200", "--seed", "5")
    answer = scored(run, tiny, *words)
    low, high = answer["splits"]["all"]["intervals"]["mAP"]
    assert answer["splits"]["public"]["intervals"] == {"mAP": [low, high]}
    lines = run("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long, *words)[1].splitlines()
    assert lines[0].split() == ["mAP", "0.58333", f"[{low:.5f},", f"{high:.5f}]"]
    assert "200 bootstrap replicates" in lines[3]
    assert scored(run, tiny, *words[:3], "6")["splits"]["all"]["intervals"] != {"mAP": [low, high]}


def test_an_undefined_score_has_no_interval(run: Run, tiny: Tiny) -> None:
    (tiny.truth / "boxes.csv").write_text((tiny.truth / "boxes.csv").read_text().splitlines()[0] + "\n")
    assert scored(run, tiny, "--bootstrap", "50")["splits"]["all"]["intervals"] == {}
    words = ("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long, "--bootstrap", "50")
    assert run(*words)[1].splitlines()[0].split() == ["mAP", "–"]


def test_the_text_has_one_column_per_split(run: Run, tiny: Tiny) -> None:
    words = ("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long, "--split", "0.5")
    assert run(*words)[1].splitlines()[0].split() == ["all", "public", "private"]


def test_classes_are_written_in_full(run: Run, tiny: Tiny, tmp_path: Path) -> None:
    path = tmp_path / "classes.csv"
    run("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long, "--classes", path)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert list(rows[0]) == ["split", "label", "name", "ap", "truths", "scored", "true_positives", "false_positives"]
    assert [row["split"] for row in rows] == ["all"] * 3 + ["public"] * 3
    assert {row["name"]: row["ap"] for row in rows} == {"Cat": "0.9166666666666666", "Dog": "0.25", "Car": ""}


@pytest.mark.parametrize("verb", ["check", "score"])
def test_defects_have_the_documented_keys(verb: str, run: Run, tiny: Tiny) -> None:
    tiny.kaggle.write_text("ImageId,PredictionString\nstreet,/m/01yrx 0.9 0.1 inf 0.5 0.5\n")
    code, out = run(verb, tiny.track, "--truth", tiny.truth, "--submission", tiny.kaggle, "--json")
    answer = json.loads(out)
    assert code == 2
    assert set(answer) == {"errors", "total", "counts", "notices"}
    (error,) = answer["errors"]
    assert set(error) == {"code", "message", "line", "column", "image", "token"}
    place = [error[name] for name in ("code", "line", "column", "image", "token")]
    assert place == ["not_finite", 2, "PredictionString", "street", 4]
    assert (answer["total"], answer["counts"]) == (1, {"not_finite": 1})


def test_faults_of_a_truth_name_the_file(run: Run, tiny: Tiny, tmp_path: Path) -> None:
    (tiny.truth / "image_labels.csv").write_text("ImageID,LabelName,Confidence\nstreet,/m/0k4j,maybe\n")
    code, out = run("prepare", tiny.track, "--truth", tiny.truth, "--out", tmp_path / "t.podium", "--json")
    answer = json.loads(out)
    assert code == 3
    assert answer["total"] == len(answer["errors"]) == sum(answer["counts"].values()) == 1
    error = answer["errors"][0]
    assert (error["code"], error["file"], error["line"]) == ("truth_bad_value", "image_labels.csv", 2)


def test_defects_are_printed_in_the_format_of_compiler_messages(run: Run, tiny: Tiny) -> None:
    rows = "".join(f"street,/m/01yrx,nan,0,1,0,{n}\n" for n in range(32)) + "street,/m/01yrx,x\x1b[2J,0,1,0,1\n"
    tiny.long.write_text("ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n" + rows)
    code, out = run("check", tiny.track, "--submission", tiny.long)
    lines = out.splitlines()
    assert code == 2
    assert lines[0].startswith(f"{tiny.long}:2: not_finite: 'nan'")
    assert lines[0].endswith("(column Score, image street)")
    assert lines[20] == "  … and 12 more not_finite"
    assert lines[21].startswith(f"{tiny.long}:34: not_a_number: ")
    assert lines[22] == "33 defects: 32 not_finite, 1 not_a_number"
    assert "\x1b" not in out


def test_a_submission_without_defects_is_reported_as_such(run: Run, tiny: Tiny) -> None:
    assert run("check", tiny.track, "--submission", tiny.long) == (0, f"{tiny.long}: no defects\n")
    code, out = run("check", tiny.track, "--submission", tiny.long, "--json")
    assert (code, json.loads(out)) == (0, {"errors": [], "total": 0, "counts": {}, "notices": []})


def test_check_applies_a_parameter_that_is_set(run: Run, tiny: Tiny) -> None:
    tiny.kaggle.write_text("ImageId,PredictionString\nstreet,\n")
    words = ("check", tiny.track, "--truth", tiny.truth, "--submission", tiny.kaggle, "--json")
    assert json.loads(run(*words, "--set", "require_all_images=true")[1])["counts"] == {"missing_image": 2}


def test_prepare_prints_the_properties_of_the_truth(run: Run, tiny: Tiny, tmp_path: Path) -> None:
    out, sample = tmp_path / "t.podium", tmp_path / "sample.csv"
    words = ("prepare", tiny.track, "--truth", tiny.truth, "--out", out, "--sample", sample)
    answer = json.loads(run(*words, "--json")[1])
    assert (answer["track"], answer["images"]) == (tiny.track, 3)
    assert f"|truth:{answer['sha256'][:12]}|" in answer["signature"]
    assert answer["signature"] == scored(run, tiny)["signature"]
    assert f"sha256 {answer['sha256']}" in run(*words)[1]
    assert sorted(sample.read_text().splitlines()) == ["ImageId,PredictionString", "garden,", "kitchen,", "street,"]


def test_a_prepared_truth_refuses_different_parameters_and_splits(tiny: Tiny, tmp_path: Path) -> None:
    prepared = str(tmp_path / "t.podium")
    assert main(["prepare", tiny.track, "--truth", str(tiny.truth), "--out", prepared]) == 0
    words = ["score", tiny.track, "--truth", prepared, "--submission", str(tiny.long)]
    assert main([*words, "--set", "expand_hierarchy=false"]) == 64
    assert main([*words, "--split", "0.5"]) == 64


def test_convert_writes_to_standard_output(run: Run, tiny: Tiny) -> None:
    code, out = run("convert", tiny.track, "--to", "kaggle", tiny.long)
    assert code == 0
    assert out.splitlines()[0] == "ImageId,PredictionString"


def test_output_to_a_device_does_not_replace_the_device(run: Run, tiny: Tiny) -> None:
    assert run("convert", tiny.track, "--to", "kaggle", tiny.long, "/dev/null") == (0, "")
    assert Path("/dev/null").is_char_device()


def test_tracks_are_printed_as_json(run: Run) -> None:
    tracks = {track["name"]: track for track in json.loads(run("tracks", "--json")[1])["tracks"]}
    assert set(tracks) == set(TRACKS)
    assert tracks["openimages-relationships"]["headline"] == "score"
    assert tracks["openimages-detection"]["parameters"][0]["default"] == 0.5


class Terminal(io.StringIO):
    """A text stream that reports that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_the_stages_and_a_pipe_does_not(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["score", tiny.track, "--truth", str(tiny.truth), "--submission", str(tiny.long)]
    for screen, seen in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", screen)
        assert main(words) == 0
        assert ("checking" in screen.getvalue()) is seen


@pytest.mark.parametrize(
    ("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": "", "TERM": "dumb"}, False)]
)
def test_colour_is_used_only_on_terminals_that_allow_it(
    settings: dict[str, str], coloured: bool, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"NO_COLOR": "", "TERM": "xterm", **settings}.items():
        monkeypatch.setenv(name, value)
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["score", tiny.track, "--truth", str(tiny.truth), "--submission", str(tiny.long)]) == 0
    assert ("\x1b[1mmAP" in screen.getvalue()) is coloured


FLAGS = {
    "tracks": "--json",
    "check": "--submission --kit --truth --challenge --phase --server --force --set --threads --json",
    "score": "--truth --submission --set --usage --split --seed --bootstrap --threads --json --classes"
    " --explain --curves --matches --report --tf-csv",
    "compare": "--truth --set --usage --split --seed --bootstrap --threads --json",
    "prepare": "--truth --set --usage --split --seed --out --salt --sample --candidates --kit --limit --hidden"
    " --ceiling --statistics --json",
    **{"reveals": "--json", "check-bundle": "--strict --json", "schema": "", "convert": "--to"},
    "gate": "--truth --sample --set --usage --split --seed --limit --threads --json",
    "verify": "--key --truth --usage --seed --submissions --json --threads",
    "synthesize": "--out --images --boxes-per-image --seed --quality --submission-seed",
}


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_help_lists_exactly_the_existing_options(verb: str, run: Run) -> None:
    assert set(re.findall(r"--[a-z-]+", run(verb, "--help")[1])) == {"--help", *FLAGS[verb].split()}


@pytest.mark.parametrize(
    ("text", "shown"), [("plain é 猫", "plain é 猫"), ("\x1b[31m", "\\x1b[31m"), ("a\nb", "a\\nb")]
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_the_number_of_threads_does_not_change_the_report(run: Run, tiny: Tiny) -> None:
    assert scored(run, tiny, "--threads", "1") == scored(run, tiny, "--threads", "3")
