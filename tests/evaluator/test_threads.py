"""Functions are called in several threads, which are started once in each process."""

import subprocess
import sys
import time
from functools import partial
from threading import Barrier, Event, Thread, current_thread, get_ident

import pytest

from evaluator.threads import call_all

SECONDS = 20.0
# Prints the number of threads of two calls in a process and then in its child.
FORKED = """
import os, threading
from evaluator.threads import call_all

def count():
    together, idents = threading.Barrier(2, timeout=20), set()
    def call():
        together.wait()
        idents.add(threading.get_ident())
    call_all([call, call], 2)
    return len(idents)

first = count()
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    try:
        os.write(writing, str(count()).encode())
    finally:
        os._exit(0)
os.waitpid(child, 0)
print(first, os.read(reading, 1).decode(), end="")
"""


def threads_of_calls(number: int) -> set[str]:
    """Make `number` calls at the same time, and return the names of their threads."""
    names: set[str] = set()
    together = Barrier(number)

    def call() -> None:
        together.wait(SECONDS)
        names.add(current_thread().name)

    call_all([call] * number, number)
    return names


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_function_is_called_once(threads: int) -> None:
    found: list[int] = []
    call_all([partial(found.append, number) for number in range(100)], threads)
    assert sorted(found) == list(range(100))


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_at_most_the_given_number_of_threads_is_used(threads: int) -> None:
    idents: set[int] = set()
    call_all([lambda: idents.add(get_ident())] * 100, threads)
    assert len(idents) <= threads


def test_the_calling_thread_calls_the_first_function() -> None:
    found: list[int] = []
    call_all([lambda: found.append(get_ident()), lambda: None, lambda: None], 3)
    assert found == [get_ident()]


def test_one_thread_calls_the_functions_in_their_order() -> None:
    found: list[tuple[int, int]] = []
    call_all([lambda number=number: found.append((number, get_ident())) for number in range(5)], 1)
    assert found == [(number, get_ident()) for number in range(5)]


def test_as_many_calls_as_threads_run_at_the_same_time() -> None:
    assert len(threads_of_calls(4)) == 4


def test_threads_are_used_again() -> None:
    assert threads_of_calls(3) == threads_of_calls(3)


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_exception_is_raised_after_the_calls_that_had_begun_have_ended(failing: int) -> None:
    ended: list[int] = []
    all_have_begun = Barrier(3)

    def call(number: int) -> None:
        all_have_begun.wait(SECONDS)
        if number == failing:
            raise ArithmeticError(number)
        time.sleep(0.1)
        ended.append(number)

    with pytest.raises(ArithmeticError, match=str(failing)):
        call_all([partial(call, number) for number in range(3)], 3)
    assert sorted(ended) == sorted({0, 1, 2} - {failing})


def test_after_an_exception_no_other_call_begins() -> None:
    """The second thread is in its only call until the first thread has failed."""
    failed, begun = Event(), list[int]()

    def fail() -> None:
        try:
            raise ArithmeticError
        finally:
            failed.set()

    def wait(number: int) -> None:
        begun.append(number)
        failed.wait(SECONDS)
        time.sleep(0.1)

    with pytest.raises(ArithmeticError):
        call_all([fail, *(partial(wait, number) for number in range(50))], 2)
    assert len(begun) <= 1


def test_a_call_does_not_wait_for_the_calls_of_another_thread() -> None:
    """Two files are scored at once, and the first one keeps the only helper busy."""
    done = Event()
    other = Thread(target=call_all, args=([partial(done.wait, SECONDS)] * 2, 2))
    other.start()
    began = time.monotonic()
    call_all([lambda: None, lambda: None], 2)
    waited = time.monotonic() - began
    done.set()
    other.join(SECONDS)
    assert waited < SECONDS / 2


def test_if_a_thread_cannot_be_started_no_call_begins_later(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []

    def cannot_start(thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads = 7  # No other test uses this number, so its threads have not been started yet.
    monkeypatch.setattr(Thread, "start", cannot_start)
    with pytest.raises(RuntimeError, match="can't start"):
        call_all([partial(ran.append, number) for number in range(9)], threads)
    monkeypatch.undo()
    call_all([lambda: time.sleep(0.1)] * threads, threads)
    assert ran == []


def test_a_forked_process_starts_its_own_threads() -> None:
    found = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout == "2 2"
