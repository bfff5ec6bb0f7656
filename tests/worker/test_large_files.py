"""One of several worker processes is reserved for small files, even if other processes are killed."""

import subprocess
import sys

from django.conf import settings

from worker.large_files import LargeFileSlot

FORKED = """
import os, signal, sys, time
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ["WORKER_LARGE_FILES_AT_ONCE"] = sys.argv[1]
from worker.large_files import LargeFileSlot

def child(action):
    reading, writing = os.pipe()
    if (number := os.fork()) == 0:
        with LargeFileSlot() as slot:
            os.write(writing, b"1" if slot.is_held else b"0")
            action(slot)
        os._exit(0)
    return number, os.read(reading, 1).decode()

def sleep(slot):
    time.sleep(60)

holder, first = child(sleep)
_, second = child(lambda slot: None)
os.kill(holder, signal.SIGKILL)
os.waitpid(holder, 0)
_, third = child(lambda slot: None)
print(first, second, third)
"""


def slots(count: int) -> str:
    words = [sys.executable, "-c", FORKED, str(count)]
    return subprocess.run(words, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True).stdout


def test_the_last_process_is_reserved_for_small_files_and_slots_of_killed_processes_are_freed() -> None:
    assert slots(1) == "1 0 1\n"


def test_as_many_large_files_as_are_allowed_are_scored_at_once() -> None:
    assert slots(2) == "1 1 1\n"


def test_the_process_for_small_files_takes_no_large_file() -> None:
    assert slots(0) == "0 0 0\n"


def test_the_file_of_the_slots_is_closed_when_its_process_ends() -> None:
    words = [sys.executable, "-W", "always::ResourceWarning", "-c", "import worker.large_files"]
    ended = subprocess.run(words, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True)
    assert ended.stderr == ""


def test_a_slot_can_be_released_before_the_end() -> None:
    with LargeFileSlot() as slot:
        assert slot.is_held
        slot.release()
        assert not slot.is_held
