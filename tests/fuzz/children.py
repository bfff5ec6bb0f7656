"""Seeds tried in processes of their own: one that dies or hangs is known by its seed, and the others go on."""

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

REPORT_SECONDS, LOOK_SECONDS = 0.5, 1.0
PATIENCE_SECONDS = 120.0  # for one seed
SPAWN = multiprocessing.get_context("spawn")

Answers = Callable[[int], tuple[Counter[str], list[str]]]


@dataclass(slots=True)
class Outcome:
    """How many seeds were tried, what they were, what was wrong, and which ones a process died of."""

    seeds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    deaths: list[int] = field(default_factory=list)


def attempt(job: Answers, seed: int) -> tuple[Counter[str], list[str]]:
    """Try one seed; whatever it raises is a complaint."""
    try:
        return job(seed)
    except Exception as error:
        return Counter(), [f"seed {seed} raised {type(error).__name__}: {error}"]


def work(name: str, seeds: Sequence[int], at: Any, news: Connection) -> None:
    """Try seeds in a child process; what is found goes to the parent from time to time."""
    module, _, function = name.partition(":")
    job = getattr(import_module(module), function)
    counts, complaints, tried, told = Counter[str](), list[str](), 0, monotonic()
    for seed in seeds:
        at.value = seed
        more, wrong = attempt(job, seed)
        counts, complaints, tried = counts + more, complaints + wrong, tried + 1
        if wrong or monotonic() - told > REPORT_SECONDS or seed == seeds[-1]:
            news.send((tried, counts, complaints))
            counts, complaints, tried, told = Counter[str](), [], 0, monotonic()


class Child:
    """One process and the seeds it has to try."""

    def __init__(self, name: str, seeds: Sequence[int]) -> None:
        self.name, self.seeds = name, seeds
        self.at = SPAWN.Value("q", -1, lock=False)
        self.news, theirs = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(target=work, args=(name, seeds, self.at, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.told, self.seen, self.waited, self.looked = 0, -1, 0.0, monotonic()

    def listen(self, outcome: Outcome) -> bool:
        """Take what there is to hear; False once the process has ended."""
        try:
            while self.news.poll():
                tried, counts, complaints = self.news.recv()
                self.told += tried
                outcome.seeds += tried
                outcome.counts += counts
                outcome.complaints += complaints
        except EOFError:
            self.process.join()
            return False
        self._have_patience()
        return True

    def _have_patience(self) -> None:
        """End the process where one seed takes too long; time in which we were stopped ourselves does not count."""
        now = monotonic()
        self.waited = self.waited + min(now - self.looked, 2 * LOOK_SECONDS) if self.at.value == self.seen else 0.0
        self.seen, self.looked = self.at.value, now
        if self.seen >= 0 and self.waited > PATIENCE_SECONDS:
            self.process.kill()

    def left(self, outcome: Outcome) -> Sequence[int]:
        """Return the seeds that an early end has left over; the one it died of is a complaint."""
        if self.process.exitcode == 0:
            return []
        code, seed = self.process.exitcode or 0, self.at.value
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        outcome.complaints.append(f"{self.name}: the process ended with {how} at seed {seed}")
        if seed < 0:
            return []
        place = self.seeds.index(seed)
        outcome.deaths.append(seed)
        outcome.seeds += place + 1 - self.told
        return self.seeds[place + 1 :]


def tried(
    name: str, seeds: Sequence[int], *, processes: int, environment: Mapping[str, str] | None = None
) -> Iterator[Outcome]:
    """Try seeds with ``module:function`` in several processes; yield how far they are, now and then.

    Parameters
    ----------
    environment : variables that the processes are to have on top of ours
    """
    outcome = Outcome()
    with patch.dict(os.environ, environment or {}):
        children = [Child(name, seeds[first::processes]) for first in range(processes) if seeds[first::processes]]
        while children:
            wait([child.news for child in children], timeout=LOOK_SECONDS)
            for child in list(children):
                if not child.listen(outcome):
                    children.remove(child)
                    if rest := child.left(outcome):
                        children.append(Child(name, rest))
            yield outcome
