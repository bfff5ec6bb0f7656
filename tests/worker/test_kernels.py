"""A worker says in its log that it compiles the kernels, because it sends no heartbeats until they are compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

# Imports the worker as Celery does. The argument is the file that marks the cache of machine code as complete.
PROGRAM = """
import sys
from evaluator.kernels import jit
jit.FILLED = sys.argv[1]
import worker
"""


def messages(filled: Path) -> list[str]:
    """Return the messages that a worker logs while it is imported."""
    command = [sys.executable, "-c", PROGRAM, str(filled)]
    environment = os.environ | {"LOG_LEVEL": "INFO"}
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=True)
    return [json.loads(line)["message"] for line in done.stderr.splitlines()]


def test_only_a_worker_that_compiles_its_kernels_says_so(tmp_path: Path) -> None:
    filled = tmp_path / "filled"
    assert messages(filled) == ["Compiling the scoring kernels, which takes a few minutes"]
    assert filled.exists()
    assert messages(filled) == []
