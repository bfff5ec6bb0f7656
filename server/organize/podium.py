"""Runs the `podium` program as a child process, so that server processes do not load numpy."""

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from django.conf import settings

from evaluator.bundle import InvalidBundle
from evaluator.problems import Problem

log = logging.getLogger(__name__)
SUBMISSION_AT_FAULT, TRUTH_AT_FAULT, NO_SPACE = 2, 3, 74
FAULTS = (0, SUBMISSION_AT_FAULT, TRUTH_AT_FAULT)


class UnexpectedExit(RuntimeError):
    """Raised if the program ends with an unexpected exit code. The code is negative if a signal ended the program."""

    def __init__(self, detail: str, code: int) -> None:
        super().__init__(detail)
        self.code = code


class Stopped(InvalidBundle):
    """Raised if a check ended unexpectedly for a reason other than a faulty bundle. The message explains what to do."""

    def __init__(self, command: str, reason: str) -> None:
        self.reason = reason
        message = (
            f"could not be checked, because `podium {command}` {reason}. Try again, or ask the staff of this server"
        )
        super().__init__([Problem("check_stopped", message)])


class TookTooLong(Stopped):
    """Raised if a check that `podium` runs took longer than its time limit."""


def run_podium(
    *words: str, expected: tuple[int, ...] = (0,), report: Callable[[str], None] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run `podium …` and return the completed process.

    `report` is called with each line of the output as soon as it is printed. The temporary files of `podium` are
    removed even if it is killed. Raises TimeoutExpired if it takes too long, OSError if the disk is full, and
    UnexpectedExit for any other unexpected exit code.
    """
    with TemporaryDirectory(prefix="podium-", dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        ended = run_in(Path(folder), words, report)
    if ended.returncode == NO_SPACE:
        raise OSError(ENOSPC, os.strerror(ENOSPC))
    if ended.returncode not in expected:
        detail = f"podium {words[0]} exited with {ended.returncode}: {ended.stderr.strip()[-2000:]}"
        raise UnexpectedExit(detail, ended.returncode)
    return ended


def run_in(
    folder: Path, words: tuple[str, ...], report: Callable[[str], None] | None
) -> "subprocess.CompletedProcess[str]":
    """Run `podium …` so that it writes its temporary files to the given folder."""
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
            child.kill()  # Killing a process that has already ended has no effect.
            reader.join()
        errors.seek(0)
        return subprocess.CompletedProcess(words, child.returncode, "".join(lines), errors.read())


def seconds_for(command: str) -> int:
    """Return how many seconds a `podium` command may run.

    The command `gate` has a higher limit, because it tests a ground truth by scoring several files.
    """
    limit: int = settings.GATE_WALL_SECONDS if command == "gate" else settings.EVALUATION_WALL_SECONDS
    return limit


@contextmanager
def _reporting_stops(command: str) -> Iterator[None]:
    """Convert exceptions of `run_podium` to Stopped, and write the details to the log."""
    try:
        yield
    except subprocess.TimeoutExpired as error:
        raise TookTooLong(command, f"took longer than {seconds_for(command)} s") from error
    except UnexpectedExit as error:
        log.exception("podium %s stopped", command)
        signalled = error.code < 0
        ended = f"was killed by {signal.Signals(-error.code).name}" if signalled else f"failed with status {error.code}"
        hint = ", probably because the server is out of memory" if error.code == -signal.SIGKILL else ""
        raise Stopped(command, ended + hint) from error


def answer(*words: str) -> dict[str, Any]:
    """Run `podium … --json` and return its parsed output.

    The output lists `errors` if the ground truth or submission is faulty. Raises Stopped if the process fails, is
    killed or takes too long.
    """
    with _reporting_stops(words[0]):
        output: dict[str, Any] = json.loads(run_podium(*words, "--json", expected=FAULTS).stdout)
    return output


def answer_with_progress(report: Callable[[str], None], *words: str) -> dict[str, Any]:
    """Run `podium … --json`, call `report` with each line that it prints, and return its parsed output.

    Raises the same exceptions as `answer`.
    """
    with TemporaryDirectory(prefix="podium-", dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        path = Path(folder) / "answer.json"
        with _reporting_stops(words[0]):
            run_podium(*words, "--json", str(path), expected=FAULTS, report=report)
        output: dict[str, Any] = json.loads(path.read_text())
    return output
