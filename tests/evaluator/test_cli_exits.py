"""Tests each exit code of ``podium``, and whether messages go to standard output or to standard error."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.cli import check, main
from tests.evaluator.conftest import Tiny

DETECTION = "openimages-detection"


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["score"],
        ["score", "no-such-track", "--truth", "truth", "--submission", "long.csv"],
        ["score", DETECTION, "--truth", "truth"],
        ["score", DETECTION, "--truth", "absent", "--submission", "long.csv"],
        ["score", DETECTION, "--truth", "truth", "--submission", "absent.csv"],
        # The next command fails because the option --submission names a folder instead of a file.
        ["score", DETECTION, "--truth", "truth", "--submission", "truth"],
        ["score", DETECTION, "--truth", "truth", "--submission", "-"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--set", "no_such=1"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--set", "iou_threshold"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--set", "iou_threshold=2"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--set", "protocol=coco"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--split", "1.5"],
        # The next command fails because none of its other options uses the seed.
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--seed", "1"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--bootstrap", "0"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--usage", "u.csv", "--split", "0.5"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--json", "absent/report.json"],
        ["score", DETECTION, "--truth", "truth", "--submission", "long.csv", "--threads", "0"],
        # The next command fails because the option --truth cannot be abbreviated to --tru.
        ["score", DETECTION, "--tru", "truth", "--submission", "long.csv"],
        ["check", DETECTION, "--submission", "-"],
        ["prepare", DETECTION, "--truth", "long.csv", "--out", "t.podium"],
        ["prepare", DETECTION, "--truth", "truth", "--out", "truth"],
        ["prepare", DETECTION, "--truth", "truth", "--out", "t.podium", "--seed", "1"],
        ["convert", DETECTION, "--to", "pickle", "long.csv"],
        ["convert", DETECTION, "--to", "kaggle", "long.csv", "out.csv.gz"],
        # This command fails because the output folder contains files that `synthesize` did not write.
        ["synthesize", DETECTION, "--out", "truth"],
        ["synthesize", DETECTION, "--out", "long.csv"],
        ["synthesize", DETECTION, "--out", "new", "--images", "0"],
        ["synthesize", DETECTION, "--out", "new", "--quality", "1.1"],
        ["synthesize", DETECTION, "--out", "new", "--quality", "0.123"],
        ["synthesize", DETECTION, "--out", "new", "--seed", "-1"],
        ["synthesize", DETECTION, "--out", "new", "--seed", "4294967296"],
        ["tracks", "--color"],
    ],
)
def test_wrong_usage_exits_with_64_and_the_reason_on_stderr(
    words: list[str], tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "u.csv").write_text("ImageID,Usage\n")
    before = sorted(tmp_path.rglob("*"))
    assert main(words) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert "usage: podium" in err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["tracks"], ["score", "--help"]])
def test_commands_that_only_print_information_exit_with_0(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert out
    assert err == ""


@pytest.mark.parametrize("verb", ["check", "score"])
def test_a_submission_with_defects_exits_with_2(verb: str, tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.long.write_text("ImageID,LabelName,Score,XMin,XMax,YMin,YMax\nstreet,/m/01yrx,NaN,0,1,0,1\n")
    assert main([verb, tiny.track, "--truth", str(tiny.truth), "--submission", str(tiny.long)]) == 2
    assert "not_finite" in capsys.readouterr().out


def test_converting_a_submission_with_defects_exits_with_2_and_leaves_no_file(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny.long.write_text("ImageID,LabelName,Score,XMin,XMax,YMin,YMax\nstreet,/m/01yrx\n")
    before = sorted(tmp_path.iterdir())
    assert main(["convert", tiny.track, "--to", "kaggle", str(tiny.long), str(tmp_path / "out.csv")]) == 2
    assert sorted(tmp_path.iterdir()) == before
    assert "bad_width" in capsys.readouterr().err


def test_an_image_with_two_declared_sizes_cannot_be_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = ",/m/01yrx,0.9,eJyzMDI28jcAAUM/UwATLQLD\n"
    long = tmp_path / "long.csv"
    long.write_text(f"ImageID,ImageWidth,ImageHeight,LabelName,Score,Mask\na,8,6{row}b,4,3{row}a,8,6{row}a,6,8{row}")
    words = ["convert", "openimages-segmentation", "--to", "kaggle", str(long), str(tmp_path / "out.csv")]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert "bad_mask" in err
    assert "6 × 8 in this row, but 8 × 6 in an earlier row" in err
    assert not (tmp_path / "out.csv").exists()
    long.write_text(long.read_text().replace("a,6,8", "a,8,6"))
    assert main(words) == 0
    assert [line.split(",")[0] for line in (tmp_path / "out.csv").read_text().splitlines()] == ["ImageID", "a", "b"]


@pytest.mark.parametrize("verb", ["score", "prepare"])
def test_a_truth_with_faults_exits_with_3(
    verb: str, tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tiny.truth / "boxes.csv").unlink()
    rest = {"score": ["--submission", str(tiny.long)], "prepare": ["--out", str(tmp_path / "t.podium")]}[verb]
    assert main([verb, tiny.track, "--truth", str(tiny.truth), *rest]) == 3
    assert "truth_missing_file" in capsys.readouterr().out


def test_a_bug_exits_with_1_and_a_message_of_one_line(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PODIUM_DEBUG", raising=False)
    assert check_that_raises(monkeypatch, ZeroDivisionError("a\nb"), tiny) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "podium: ZeroDivisionError: a b (set PODIUM_DEBUG=1 for a traceback)\n"


def test_a_bug_shows_its_traceback_on_request(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PODIUM_DEBUG", "1")
    assert check_that_raises(monkeypatch, ZeroDivisionError("a"), tiny) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_exits_with_74(
    number: int, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = Path.write_bytes

    def half(path: Path, content: bytes) -> int:
        write(path, content[:64])
        raise OSError(number, "full")

    monkeypatch.setattr(Path, "write_bytes", half)
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "t.podium"
    assert main(["prepare", tiny.track, "--truth", str(tiny.truth), "--out", str(out)]) == 74
    assert capsys.readouterr().err.startswith("podium: there is no space left on the disk")
    assert list(out.parent.iterdir()) == []


def test_ctrl_c_exits_with_130(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_that_raises(monkeypatch, KeyboardInterrupt(), tiny) == 130


def check_that_raises(monkeypatch: pytest.MonkeyPatch, error: BaseException, tiny: Tiny) -> int:
    def broken(*args: object, **kwargs: object) -> None:
        raise error

    monkeypatch.setattr(check, "check", broken)
    return main(["check", tiny.track, "--submission", str(tiny.long)])


def podium(*words: str) -> list[str]:
    return [sys.executable, "-m", "evaluator", *words]


def test_a_real_process_exits_with_the_documented_code(tmp_path: Path) -> None:
    done = subprocess.run(podium("check", DETECTION, "--submission", str(tmp_path)), capture_output=True, text=True)
    assert done.returncode == 64
    assert done.stdout == ""


def test_a_closed_pipe_causes_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(podium("tracks"), stdout=closed, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize("words", [["tracks"], ["--help"], ["nonsense"]])
def test_commands_that_compute_nothing_do_not_import_numpy(words: list[str]) -> None:
    program = (
        "import sys; from evaluator.cli import main; main(sys.argv[1:]);"
        "sys.exit(','.join({'numpy', 'pandas', 'tqdm'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
