"""Nobody waits for a compiler: set-up has done it."""

import subprocess
import sys

PROGRAM = """
import sys
from pathlib import Path
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    from evaluator.scoring import score
    truth, *files = map(Path, sys.argv[1:])
    for file in files:
        assert score("openimages-detection", truth, file, threads=2).way == "streamed"
assert not recorder.buffer, recorder.buffer
"""


def test_scoring_in_a_new_process_compiles_nothing(tiny) -> None:  # type: ignore[no-untyped-def]
    arguments = [str(path) for path in (tiny.truth, tiny.kaggle, tiny.long)]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
