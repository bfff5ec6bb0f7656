"""Runs fuzz cases in child processes. A seed whose cases crash or hang is reported, and the other seeds still run."""

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any
from unittest.mock import patch

REPORT_SECONDS, POLL_SECONDS = 0.5, 1.0
MAX_SECONDS = 120.0  # Time limit, in seconds, for all random test cases of one seed.
SPAWN = multiprocessing.get_context("spawn")

Answers = Callable[[int], tuple[Counter[str], list[str]]]


@dataclass(slots=True)
class Outcome:
    """The results of a fuzz test so far: finished seeds, number of cases by kind, failures and crashed seeds."""

    seeds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    deaths: list[int] = field(default_factory=list)


def attempt(job: Answers, seed: int) -> tuple[Counter[str], list[str]]:
    """Run the cases of one seed. Return the number of cases of each kind, and the failures, including exceptions."""
    try:
        return job(seed)
    except Exception as error:
        return Counter(), [f"seed {seed} raised {type(error).__name__}: {error}"]


def work(name: str, seeds: Sequence[int], current: Any, results: Connection) -> None:
    """Run the cases of several seeds in a child process, and regularly send the results to the parent process."""
    module, _, function = name.partition(":")
    job = getattr(import_module(module), function)
    counts, failures, tried, reported_at = Counter[str](), list[str](), 0, monotonic()
    for seed in seeds:
        current.value = seed
        more, wrong = attempt(job, seed)
        counts, failures, tried = counts + more, failures + wrong, tried + 1
        if wrong or monotonic() - reported_at > REPORT_SECONDS or seed == seeds[-1]:
            results.send((tried, counts, failures))
            counts, failures, tried, reported_at = Counter[str](), [], 0, monotonic()


class Child:
    """A child process, and the random seeds from which it generates and runs test cases."""

    def __init__(self, name: str, seeds: Sequence[int]) -> None:
        self.name, self.seeds = name, seeds
        self.current = SPAWN.Value("q", -1, lock=False)
        self.results, sender = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(target=work, args=(name, seeds, self.current, sender), daemon=True)
        self.process.start()
        sender.close()
        self.reported, self.seen, self.waited, self.looked = 0, -1, 0.0, monotonic()

    def receive(self, outcome: Outcome) -> bool:
        """Add the results received so far to ``outcome``. Return False if the process has ended."""
        try:
            while self.results.poll():
                tried, counts, failures = self.results.recv()
                self.reported += tried
                outcome.seeds += tried
                outcome.counts += counts
                outcome.failures += failures
        except EOFError:
            self.process.join()
            return False
        self._end_if_stuck()
        return True

    def _end_if_stuck(self) -> None:
        """Kill the child process if one seed takes too long. Periods in which the parent is suspended do not count."""
        now = monotonic()
        self.waited = self.waited + min(now - self.looked, 2 * POLL_SECONDS) if self.current.value == self.seen else 0.0
        self.seen, self.looked = self.current.value, now
        if self.seen >= 0 and self.waited > MAX_SECONDS:
            self.process.kill()

    def remaining(self, outcome: Outcome) -> Sequence[int]:
        """If the process has crashed, add its current seed to the failures. Return the remaining seeds."""
        if self.process.exitcode == 0:
            return []
        code, seed = self.process.exitcode or 0, self.current.value
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        outcome.failures.append(f"{self.name}: the process ended with {how} at seed {seed}")
        if seed < 0:
            return []
        index = self.seeds.index(seed)
        outcome.deaths.append(seed)
        outcome.seeds += index + 1 - self.reported
        return self.seeds[index + 1 :]


def tried(
    name: str, seeds: Sequence[int], *, processes: int, environment: Mapping[str, str] | None = None
) -> Iterator[Outcome]:
    """Call ``module:function`` with every seed, using several processes. Regularly yield the outcome so far.

    Parameters
    ----------
    environment : additional environment variables for the processes
    """
    outcome = Outcome()
    with patch.dict(os.environ, environment or {}):
        children = [Child(name, seeds[first::processes]) for first in range(processes) if seeds[first::processes]]
        while children:
            wait([child.results for child in children], timeout=POLL_SECONDS)
            for child in list(children):
                if not child.receive(outcome):
                    children.remove(child)
                    if rest := child.remaining(outcome):
                        children.append(Child(name, rest))
            yield outcome
