"""Runs the `podium` program as a child process, because the server never loads numpy."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from django.conf import settings

SUBMISSION_AT_FAULT, TRUTH_AT_FAULT, NO_SPACE = 2, 3, 74
FAULTS = (0, SUBMISSION_AT_FAULT, TRUTH_AT_FAULT)


def run_podium(
    *words: str, expected: tuple[int, ...] = (0,), report: Callable[[str], None] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run `podium …` and return the completed process. `report` is called with each line of its output immediately.

    The temporary files of `podium` are removed even if it is killed. Raises TimeoutExpired if it takes too long,
    OSError if the disk is full, and RuntimeError for another unexpected exit code.
    """
    with TemporaryDirectory(prefix="podium-", dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        ended = run_in(Path(folder), words, report)
    if ended.returncode == NO_SPACE:
        raise OSError(ENOSPC, os.strerror(ENOSPC))
    if ended.returncode not in expected:
        raise RuntimeError(f"podium {words[0]} exited with {ended.returncode}: {ended.stderr.strip()[-2000:]}")
    return ended


def run_in(
    folder: Path, words: tuple[str, ...], report: Callable[[str], None] | None
) -> "subprocess.CompletedProcess[str]":
    """Run `podium …` with its temporary files in a folder."""
    lines: list[str] = []
    with (
        (folder / "stderr").open("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "evaluator", *words],
            cwd=settings.BASE_DIR,
            env={**os.environ, "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as child,
    ):

        def read() -> None:
            for line in child.stdout or ():
                lines.append(line)
                if report:
                    report(line.rstrip("\n"))

        reader = Thread(target=read, daemon=True)
        reader.start()
        try:
            child.wait(seconds_for(words[0]))
        finally:
            child.kill()  # this has no effect on a process that has ended
            reader.join()
        errors.seek(0)
        return subprocess.CompletedProcess(words, child.returncode, "".join(lines), errors.read())


def seconds_for(command: str) -> int:
    """Return how long a command may run. A gate scores several files, so it has a higher limit."""
    limit: int = settings.GATE_WALL_SECONDS if command == "gate" else settings.EVALUATION_WALL_SECONDS
    return limit


def answer(*words: str) -> dict[str, Any]:
    """Run `podium … --json` and return its parsed output, with `errors` if the truth or submission is faulty."""
    output: dict[str, Any] = json.loads(run_podium(*words, "--json", expected=FAULTS).stdout)
    return output


def answer_with_progress(report: Callable[[str], None], *words: str) -> dict[str, Any]:
    """Do the same as `answer`, and call `report` with each line that the command prints as text."""
    with TemporaryDirectory(prefix="podium-", dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        path = Path(folder) / "answer.json"
        run_podium(*words, "--json", str(path), expected=FAULTS, report=report)
        output: dict[str, Any] = json.loads(path.read_text())
    return output
