"""Scoring never waits for the compiler, because all kernels are compiled during set-up."""

import subprocess
import sys
from pathlib import Path

import pytest

from evaluator import scoring, tracks
from evaluator.cli.progress import progress
from evaluator.kernels import jit
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import prepare
from tests.evaluator.conftest import Tiny

PROGRAM = """
import sys
from pathlib import Path
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    from evaluator.request import Bootstrap, ReportOptions, Resources, ScoringRequest
    from evaluator.scoring import load_kernels, score
    load_kernels()
    wanted = {"report": ReportOptions(bootstrap=Bootstrap(10)), "resources": Resources(threads=2)}
    loaded = set(sys.modules)
    truth, *files = map(Path, sys.argv[1:])
    for file in files:
        assert score(ScoringRequest("openimages-detection", truth, file, **wanted)).way == "fast path"
    late = {name for name in set(sys.modules) - loaded if name.startswith("evaluator.kernels")}
    assert not late, late
assert not recorder.buffer, recorder.buffer
"""


def test_scoring_in_a_new_process_compiles_nothing(tiny: Tiny) -> None:  # type: ignore[no-untyped-def]
    arguments = [str(path) for path in (tiny.truth, tiny.kaggle, tiny.long)]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


COLD = """
import sys
from pathlib import Path
from evaluator.request import ScoringRequest
from evaluator.scoring import score
report = score(ScoringRequest("openimages-detection", *map(Path, sys.argv[1:])))
assert report.way == "reference implementation: a small file", report.way
from evaluator.catalog import DETECTION
late = {"numba", "pandas", DETECTION.modules.compiler, DETECTION.modules.fast_path, DETECTION.modules.explanation}
assert not late & set(sys.modules), late & set(sys.modules)
"""


def test_a_small_file_in_a_new_process_is_scored_without_kernels_compiler_and_explanation(
    tiny: Tiny, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    truth = tmp_path / "truth.podium"
    prepare("openimages-detection", tiny.truth, truth)
    arguments = [sys.executable, "-c", COLD, str(truth), str(tiny.long)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_only_the_first_scoring_on_a_machine_compiles_kernels(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(jit, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(tracks, "SMALL_BYTES", 0)
    outputs = []
    for _ in range(2):
        monkeypatch.delitem(sys.modules, "evaluator.tracks.detection.fast.scoring", raising=False)
        with progress() as report:
            request = ScoringRequest(tiny.track, tiny.truth, tiny.long, resources=Resources(progress=report))
            assert scoring.score(request).way == "fast path"
        outputs.append(capsys.readouterr().err)
    assert outputs == ["compiling the kernels; this takes about a minute and is done only once on this machine\n", ""]
