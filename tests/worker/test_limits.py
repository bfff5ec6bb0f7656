"""The limits on CPU time and memory count only what the current scoring run itself uses."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings
from pytest_django import Settings

from server.submissions.limits import file_limits
from worker import limits
from worker.limits import OutOfTime

UNDER_LIMIT = """
import mmap, os
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ["WORKER_MEMORY_BYTES"] = str(512 * 2**20)
import numpy
from worker import limits
before = numpy.ones(2**27)
with limits.limited():
    {deed}
print("done")
"""


def under_limit(deed: str) -> "subprocess.CompletedProcess[str]":
    code = UNDER_LIMIT.format(deed=deed)
    return subprocess.run([sys.executable, "-c", code], cwd=settings.BASE_DIR, capture_output=True, text=True)


def test_an_allocation_beyond_the_limit_is_a_memory_error() -> None:
    assert "MemoryError" in under_limit("numpy.ones(2**27)").stderr


def test_an_allocation_within_the_limit_is_granted() -> None:
    assert under_limit("numpy.ones(2**24)").stdout == "done\n"


def test_a_file_that_is_mapped_for_reading_does_not_count(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(2**30)
    deed = f"mmap.mmap(os.open({str(large)!r}, os.O_RDONLY), 0, prot=mmap.PROT_READ)"
    assert under_limit(deed).stdout == "done\n"


def test_time_spent_waiting_does_not_count(settings: Settings) -> None:
    settings.EVALUATION_SECONDS = 0.2
    with limits.limited():
        time.sleep(0.6)
        left = time_left()
    # About 0.2 seconds are left. This is not exact, because the operating system rounds timers to its clock ticks.
    assert 0.1 < left < 0.3


def time_left() -> float:
    """Return how many CPU seconds are left until the time limit. If there is no limit, return 0."""
    return signal.getitimer(signal.ITIMER_PROF)[0]


def spin(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_computing_beyond_the_limit_ends_the_scoring_run(settings: Settings) -> None:
    settings.EVALUATION_SECONDS = 0.2
    with pytest.raises(OutOfTime), limits.limited():
        spin(30)


def test_a_small_file_never_has_more_time_than_a_large_one(settings: Settings) -> None:
    settings.SMALL_FILE_CPU_SECONDS = 0.2
    with pytest.raises(OutOfTime), limits.limited(small=True):
        spin(30)
    settings.SMALL_FILE_CPU_SECONDS, settings.EVALUATION_SECONDS = 60, 0.2
    with pytest.raises(OutOfTime), limits.limited(small=True):
        spin(30)


def swallow_once() -> None:
    with suppress(OutOfTime):
        spin(30)
    spin(30)


def test_a_scorer_that_swallows_the_first_time_limit_error_is_stopped(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EVALUATION_SECONDS = 0.1
    monkeypatch.setattr(limits, "REPEAT_SECONDS", 0.1)
    with pytest.raises(OutOfTime), limits.limited():
        swallow_once()


def test_the_time_of_one_scoring_run_is_not_counted_for_the_next(settings: Settings) -> None:
    settings.EVALUATION_SECONDS = 0.3
    for _ in range(3):
        with limits.limited():
            assert time_left() > 0.2
            spin(0.15)
    assert time_left() == 0  # After the `with` block, there is no time limit.
    assert signal.getsignal(signal.SIGPROF) is not limits.raise_out_of_time


def test_file_limits_are_those_of_the_settings(settings: Settings) -> None:
    settings.LINE_MAX_BYTES = 12345
    assert file_limits().line_bytes == 12345


@pytest.mark.parametrize(("error", "word"), [(MemoryError(), "memory"), (OutOfTime(), "minutes of CPU time")])
def test_the_message_names_the_limit_that_was_reached(error, word) -> None:
    assert word in limits.exceeded_text(error)
