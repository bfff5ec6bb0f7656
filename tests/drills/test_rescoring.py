"""While teams submit files, a ground truth is replaced and later restored, and all files are scored.

No leaderboard mixes scores against different versions of the ground truth.
"""

import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended
from tests.flows.running import Running

pytestmark = pytest.mark.processes

BOARD = "/api/v1/challenges/flows/phases/main/leaderboard"
PEOPLE, BEFORE, TRIES = ("ada", "bob", "cho", "dan", "eve"), 8, 20
SCORES = """
SELECT e.signature, t.name, s.received_at, w.value
FROM submissions_evaluation e
JOIN submissions_submission s ON s.id = e.submission_id
JOIN challenges_team t ON t.id = s.team_id
JOIN submissions_score w ON w.evaluation_id = e.id AND w.split = 'public' AND w.metric = 'mAP'
"""
WITHOUT_SCORE = """
SELECT count(*) FROM submissions_submission s WHERE s.status = 'scored' AND NOT EXISTS (
  SELECT 1 FROM submissions_evaluation e JOIN challenges_phase p ON p.signature = e.signature
  WHERE e.submission_id = s.id AND p.id = s.phase_id)
"""


def corrected_truth(small: Path, folder: Path) -> Path:
    """Write a copy of the small challenge's ground truth with every third box removed, and return its folder."""
    shutil.copytree(small / "phases" / "main" / "truth", folder)
    header, *boxes = (folder / "boxes.csv").read_text().splitlines(keepends=True)
    kept = [box for number, box in enumerate(boxes) if number % 3]
    (folder / "boxes.csv").write_text("".join([header, *kept]))
    return folder


def half(content: bytes, number: int) -> bytes:
    """Return a submission with every second row of the given one, starting at row `number % 7`.

    Successive numbers give different files.
    """
    header, *rows = content.decode().splitlines(keepends=True)
    return "".join([header, *rows[number % 7 :: 2]]).encode()


def until(over: Event, deed: Callable[[int], Any], pause: float = 0.03) -> list[Any]:
    """Repeat a call, with pauses, until the event is set, and return all results."""
    found = []
    while not over.is_set():
        found.append(deed(len(found)))
        time.sleep(pause)
    return found


def rescore(service: Running, truth: Path | int) -> None:
    """Run the command `rescore`, and repeat it if it could not finish because new uploads had not been scored yet."""
    for _ in range(TRIES):
        done = service.run("manage.py", "rescore", "flows", "main", "--truth", str(truth))
        if done.returncode == 0:
            return
        assert re.search("still have to be scored|Nothing was scored for", done.stderr), done.stdout + done.stderr
    raise AssertionError(f"not applied after {TRIES} tries")


@dataclass(frozen=True)
class Seen:
    """A leaderboard as seen in one response: its rows, and its signature, which identifies the ground truth version."""

    signature: str
    lines: tuple[tuple[str, str, float], ...]

    def is_of_one_version(self, scores: dict[tuple[str, str, str], float]) -> bool:
        return all(scores.get((self.signature, team, at)) == score for team, at, score in self.lines)


def look(service: Running) -> Seen:
    status, board = service.ask("GET", BOARD)
    assert status == 200, board
    lines = [(row["team"], row["submitted_at"].replace("T", " ")[:-1], row["score"]) for row in board["results"]]
    return Seen(board["signature"], tuple(lines))


def scores_by_version(service: Running) -> dict[tuple[str, str, str], float]:
    return {(signature, team, at): score for signature, team, at, score in service.rows(SCORES)}


@pytest.mark.drill(18)
def test_while_a_rescoring_is_applied_the_leaderboard_shows_one_version_only(
    opened: Open, small: Path, figures: Figures, tmp_path: Path
) -> None:
    service, content = opened(people=PEOPLE, WEB_PROCESSES=2), (small / "predictions.csv").read_bytes()
    doors = [service.asked_by(number) for number in range(len(PEOPLE))]
    for number in range(BEFORE):
        for door in doors:
            door.submit(half(content, number))
    all_ended(service, seconds=120)
    over = Event()
    with ThreadPoolExecutor(3) as pool:
        boards = pool.submit(until, over, lambda number: look(service))
        uploads = pool.submit(until, over, lambda number: doors[number % len(doors)].submit(half(content, number)))
        began = time.monotonic()
        try:
            rescore(service, corrected_truth(small, tmp_path / "corrected"))
            seconds = time.monotonic() - began
            time.sleep(1)
        finally:
            over.set()
    all_ended(service, seconds=120)
    seen, scores = boards.result(), scores_by_version(service)
    versions = [board.signature for board in seen]
    mixed = sum(not board.is_of_one_version(scores) for board in seen)
    switches = sum(one != other for one, other in pairwise(versions))
    ((without_score,),) = service.rows(WITHOUT_SCORE)
    figures(
        f"rescored in {seconds:.1f} s while {len(uploads.result())} more came: {versions.count(versions[0])} boards of "
        f"the old version, {versions.count(versions[-1])} of the new, {mixed} mixed; "
        f"{without_score} without a new score"
    )
    assert (mixed, switches, without_score) == (0, 1, 0)
    assert versions[0] != versions[-1]
    assert uploads.result()


APPLIED = """
SELECT t.version FROM organize_rescoring r JOIN challenges_truth t ON t.id = r.truth_id
WHERE r.applied_at IS NOT NULL ORDER BY r.started_at
"""
ACTIVE = "SELECT version FROM challenges_truth WHERE active"


@pytest.mark.drill(25)
def test_no_submission_is_lost_if_truths_are_switched_while_teams_submit(
    opened: Open, small: Path, figures: Figures, tmp_path: Path
) -> None:
    service, content = opened(people=PEOPLE, WEB_PROCESSES=2), (small / "predictions.csv").read_bytes()
    doors = [service.asked_by(number) for number in range(len(PEOPLE))]
    for number in range(BEFORE):
        for door in doors:
            door.submit(half(content, number))
    all_ended(service, seconds=120)
    at_first, first_scores = look(service), scores_by_version(service)
    over = Event()
    with ThreadPoolExecutor(3) as pool:
        boards = pool.submit(until, over, lambda number: look(service))
        uploads = pool.submit(until, over, lambda number: doors[number % len(doors)].submit(half(content, number)), 0.3)
        began = time.monotonic()
        try:
            rescore(service, corrected_truth(small, tmp_path / "corrected"))
            between = look(service)
            rescore(service, 1)
            seconds = time.monotonic() - began
            time.sleep(1)
        finally:
            over.set()
    all_ended(service, seconds=120)
    seen, scores, at_last = boards.result(), scores_by_version(service), look(service)
    versions = [board.signature for board in seen]
    mixed = sum(not board.is_of_one_version(scores) for board in seen)
    switches = sum(one != other for one, other in pairwise(versions))
    changed = sum(scores[known] != score for known, score in first_scores.items())
    lost = set(at_first.lines) - set(at_last.lines)
    ((without_score,),) = service.rows(WITHOUT_SCORE)
    figures(
        f"there and back in {seconds:.0f} s while {len(uploads.result())} more came: {switches} switches, "
        f"{mixed} mixed boards, {changed} of {len(first_scores)} first scores changed; {without_score} without a score"
    )
    assert (mixed, switches, changed, without_score) == (0, 2, 0, 0)
    assert at_first.signature == at_last.signature != between.signature
    # An entry may disappear from the leaderboard only if the same team has a better entry.
    best = {team: score for team, _, score in at_last.lines}
    assert all(best[team] >= score for team, _, score in lost)
    assert [version for (version,) in service.rows(APPLIED)] == [2, 1]
    assert service.rows(ACTIVE) == [(1,)]
