"""A prepared ground truth that is damaged repeatedly is restored each time, and scores remain the same."""

import random
from pathlib import Path

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended, counted, once
from tests.flows.running import Running

pytestmark = pytest.mark.processes

FLIPS, SEED = 200, 23
SCORES = """
SELECT DISTINCT w.split, w.metric, w.value, w.low, w.high FROM submissions_score w ORDER BY w.split, w.metric
"""
STATES = "SELECT DISTINCT status, fault, attempts FROM submissions_submission"


def prepared_file(service: Running) -> Path:
    ((stored,),) = service.rows("SELECT prepared FROM challenges_truth WHERE active")
    return Path(service.home / "truths" / stored)


def flip(path: Path, chance: random.Random) -> None:
    """Flip a random bit of the file in place, as a failing disk might."""
    with path.open("r+b") as file:
        place = chance.randrange(path.stat().st_size)
        file.seek(place)
        (old,) = file.read(1)
        file.seek(place)
        file.write(bytes([old ^ (1 << chance.randrange(8))]))


@pytest.mark.drill(23)
def test_a_damaged_truth_is_restored_and_no_score_changes(opened: Open, small: Path, figures: Figures) -> None:
    service = opened()
    content, chance = (small / "predictions.csv").read_bytes(), random.Random(SEED)
    path, workers = prepared_file(service), service.worker()
    sound = path.read_bytes()
    service.submit(content)
    all_ended(service, seconds=60)
    expected, repaired = service.rows(SCORES), 0
    for _ in range(FLIPS):
        # Wait until no job is running before the bit is flipped. Processes map the file into memory and check it when
        # they open it, so a byte that changes later could end the process. A failing disk would not change the bytes of
        # a file that is already mapped.
        all_ended(service, seconds=60)
        flip(path, chance)
        assert service.ended(service.submit(content))["status"] == "scored"
        repaired += path.read_bytes() == sound
    all_ended(service, seconds=120)
    seen = counted(service)
    figures(f"{FLIPS} flips: {seen}, {len(service.rows(SCORES)) - len(expected)} other scores, {repaired} repaired")
    assert service.rows(SCORES) == expected
    assert service.rows(STATES) == [("scored", "", 1)]
    assert seen == once(FLIPS + 1, attempts=FLIPS + 1)
    assert service.worker() == workers
