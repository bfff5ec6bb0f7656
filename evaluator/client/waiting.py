"""Waits until a submission has been scored, and prints the result."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from evaluator.cli.exits import Exit
from evaluator.client.http import LONG_PATIENCE_SECONDS, Api
from evaluator.client.verb import Session
from evaluator.problems import NOTHING_TO_SCORE, visible

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
DEFECTS = 20
EXITS = {
    "queued": Exit.DONE,
    "running": Exit.DONE,
    "scored": Exit.DONE,
    "rejected": Exit.INVALID_SUBMISSION,
    "failed": Exit.SCORING_FAILED,
    "cancelled": Exit.SCORING_FAILED,
}
FORMATS = {
    "bytes": "{desc:<13} |{bar}| {n_fmt}B/{total_fmt}B {elapsed}",
    "share": "{desc:<13} {percentage:3.0f}% |{bar}| {elapsed}",
}
Show = Callable[[float, str], None]


@contextmanager
def bar(total: float, *, unit: str) -> Iterator[Show]:
    """Yield a function that updates a progress bar. Without a terminal, this function does nothing."""
    if not sys.stderr.isatty():
        yield lambda done, text: None
        return
    tqdm = import_module("tqdm").tqdm  # tqdm is imported only if there is a terminal to show the progress bar.
    with tqdm(total=total, leave=False, file=sys.stderr, bar_format=FORMATS[unit], unit_scale=unit == "bytes") as shown:

        def update(done: float, text: str) -> None:
            shown.set_description_str(text, refresh=False)
            shown.update(done - shown.n)

        yield update


def wait(api: Api, identifier: str) -> dict[str, Any]:
    """Wait until a submission is scored, rejected, failed or cancelled, and return its data.

    Requests are repeated during server outages of up to 15 minutes.
    """
    pause = FIRST_PAUSE
    with bar(1.0, unit="share") as show:
        while True:
            found = dict(api.get(f"submissions/{identifier}", patience=LONG_PATIENCE_SECONDS))
            if found["status"] not in ("queued", "running"):
                return found
            show(found["progress"], visible(found["stage"] or found["status"]))
            api.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.3)


def report(session: Session, found: dict[str, Any]) -> int:
    """Print the status of a submission, and its scores or defects. Return the exit code for the status."""
    session.print(found, lambda: lines_of(found, session.server))
    return EXITS.get(found["status"], Exit.DONE)


def lines_of(found: dict[str, Any], server: str) -> Iterator[str]:
    """Yield lines of text that describe a submission: its status, and its scores or defects."""
    yield f"{visible(found['file_name'])}: {found['status']}"
    for split, metrics in found["scores"].items():
        for metric, value in metrics.items():
            yield f"  {split} {visible(metric)} {_number(value)}{_interval(found, split, metric)}"
    if found["on_board"] and found.get("rank"):
        yield f"  rank {found['rank']}"
    elif found["why_not"] and found["status"] == "scored":
        yield f"  not on the leaderboard: {visible(found['why_not'])}"
    if found.get("failure"):
        yield f"  {visible(found['failure'])}"
    yield from _defects(found["problems"])
    if found["status"] == "rejected":
        yield "  this file does not count against the quota"
    yield f"  {server}/submissions/{found['id']}/"


def _defects(problems: dict[str, Any]) -> Iterator[str]:
    errors = problems.get("errors", [])
    for error in errors[:DEFECTS]:
        line = f"line {error['line']}: " if error.get("line") else ""
        yield f"  {line}{error['code']}: {visible(error['message'])}"
    if problems.get("total", 0) > len(errors[:DEFECTS]):
        yield f"  … {problems['total']:,} defects in total"
    if NOTHING_TO_SCORE in problems.get("counts", {}):
        yield "  to have it scored anyway, use podium submit --force; the submission then counts against the quota"
    for notice in problems.get("notices", []):
        times = "once" if notice["count"] == 1 else f"{notice['count']:,} times"
        yield f"  notice: {visible(notice['message'])} ({times})"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.5f}"


def _interval(found: dict[str, Any], split: str, metric: str) -> str:
    interval = found["intervals"].get(split, {}).get(metric)
    return f" (95% interval {_number(interval[0])} to {_number(interval[1])})" if interval else ""
