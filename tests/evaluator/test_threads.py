"""Functions are called in several threads, which are started once in each process."""

import os
from functools import partial
from threading import Barrier, current_thread, get_ident

import pytest

from evaluator.threads import call_all

SECONDS = 20.0


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
def test_an_exception_is_raised_after_all_calls_have_ended(failing: int) -> None:
    ended: list[int] = []
    both = Barrier(2)

    def call(number: int) -> None:
        if number < 2:
            both.wait(SECONDS)
        if number == failing:
            raise ArithmeticError(number)
        ended.append(number)

    with pytest.raises(ArithmeticError, match=str(failing)):
        call_all([partial(call, number) for number in range(2)] + [partial(call, 2)], 2)
    assert {0, 1} - {failing} <= set(ended)


def test_a_forked_process_starts_its_own_threads() -> None:
    threads_of_calls(2)
    child = os.fork()
    if child == 0:
        os._exit(0 if len(threads_of_calls(2)) == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
