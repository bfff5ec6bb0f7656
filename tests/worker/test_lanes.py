"""One process of several stays free for small files, however the others end."""

import subprocess
import sys

from django.conf import settings

from worker.lanes import Lane

FORKED = """
import os, signal, sys, time
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ["WORKER_LARGE_FILES_AT_ONCE"] = sys.argv[1]
from worker.lanes import Lane

def child(deed):
    told, tell = os.pipe()
    if (number := os.fork()) == 0:
        with Lane() as lane:
            os.write(tell, b"1" if lane.large else b"0")
            deed(lane)
        os._exit(0)
    return number, os.read(told, 1).decode()

def sleep(lane):
    time.sleep(60)

holder, first = child(sleep)
_, second = child(lambda lane: None)
os.kill(holder, signal.SIGKILL)
os.waitpid(holder, 0)
_, third = child(lambda lane: None)
print(first, second, third)
"""


def places(count: int) -> str:
    words = [sys.executable, "-c", FORKED, str(count)]
    return subprocess.run(words, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True).stdout


def test_last_process_is_left_for_small_files_and_a_killed_one_gives_its_place_back():
    assert places(1) == "1 0 1\n"


def test_as_many_large_files_as_are_allowed_are_scored_at_once():
    assert places(2) == "1 1 1\n"


def test_worker_for_small_files_only_takes_no_large_one():
    assert places(0) == "0 0 0\n"


def test_place_can_be_left_before_the_end():
    with Lane() as lane:
        assert lane.large
        lane.leave()
        assert not lane.large
