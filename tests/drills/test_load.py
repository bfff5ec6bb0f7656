"""Many clients read pages and upload files at the same time, and the uploads of one team do not delay other teams."""

import gzip
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import quantiles

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended, counted, unfinished
from tests.flows.running import Running, wait_for

pytestmark = pytest.mark.processes

READERS, UPLOADERS, SECONDS, WARM_SECONDS = 50, 20, 180.0, 60.0
# Pauses in seconds: between two requests of a reader, and between two uploads of an uploader.
READ_PAUSE, UPLOAD_PAUSE = 1.0, 5.0
BOARD, BARE = "/challenges/flows/leaderboard", "/livez"
GROWTH = 1.15
LARGE_FILES, BOXES, OTHERS, SOON_SECONDS = 20, 5_000_000, 9, 10.0


class Load:
    """Counts responses by status, and records how long the requests for each path take."""

    def __init__(self, service: Running, content: bytes) -> None:
        self.service, self.content, self.over = service, content, threading.Event()
        self.statuses: Counter[int] = Counter()
        self.times: dict[str, list[float]] = {BOARD: [], BARE: []}

    @contextmanager
    def running(self) -> Iterator[None]:
        everybody = [self.reader] * READERS + [self.uploader] * UPLOADERS
        with ThreadPoolExecutor(len(everybody)) as pool:
            each = [pool.submit(one, number) for number, one in enumerate(everybody)]
            yield
            self.over.set()
        for one in each:
            one.result()

    def repeat(self, number: int, pause: float, request: Callable[[int], int]) -> None:
        """Repeat a request until the test ends. Start after a delay, so that the clients do not all start at once."""
        self.over.wait(pause * number / (READERS + UPLOADERS))
        turn = 0
        while not self.over.is_set():
            self.statuses[request(turn)] += 1
            turn += 1
            self.over.wait(pause)

    def reader(self, number: int) -> None:
        def read(turn: int) -> int:
            path, began = (BOARD, BARE)[(number + turn) % 2], time.monotonic()
            status = self.service.ask("GET", path)[0]
            self.times[path].append(time.monotonic() - began)
            return status

        self.repeat(number, READ_PAUSE, read)

    def uploader(self, number: int) -> None:
        asked = self.service.asked_by(number % UPLOADERS)
        self.repeat(number, UPLOAD_PAUSE, lambda turn: asked.upload_anew(self.content)[0])


def memory(service: Running) -> int:
    """Return the private memory of all processes of the service in MiB."""
    lines = [line for one in service.processes() for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) >> 10


def p99(times: list[float]) -> float:
    return quantiles(times, n=100)[98]


@pytest.mark.drill(36)
def test_fifty_readers_and_twenty_uploaders_get_their_answers(opened: Open, small: Path, figures: Figures) -> None:
    people = tuple(f"person{number}" for number in range(UPLOADERS))
    service = opened(people=people, WEB_PROCESSES=2)
    load = Load(service, (small / "predictions.csv").read_bytes())
    with load.running():
        time.sleep(WARM_SECONDS)
        before = memory(service)
        time.sleep(SECONDS - WARM_SECONDS)
        after = memory(service)
    seconds = all_ended(service, seconds=180)
    board, bare = p99(load.times[BOARD]), p99(load.times[BARE])
    figures(
        f"{load.statuses.total()} responses {dict(load.statuses)}, {counted(service)}; p99 of the board "
        f"{board * 1000:.0f} ms = {board / bare:.1f} x that of a bare view; memory {before} MiB after "
        f"{WARM_SECONDS:.0f} s, {after} MiB after {SECONDS:.0f} s; all ended {seconds:.0f} s after the last upload"
    )
    assert set(load.statuses) == {200, 201}
    assert board <= 20 * bare
    assert after <= GROWTH * before
    assert (counted(service).lost, counted(service).twice) == (0, 0)


def large_file(content: bytes) -> bytes:
    """Return a file with five million boxes, compressed."""
    rows = [row.split(",", 1) for row in content.decode().split("\n")[1:] if "," in row]
    label, each = rows[0][1].split()[0], BOXES // len(rows)
    blocks = [
        " ".join(f"{label} 0.{(box * 7919 + block) % 1_000_000:06} 0.1 0.1 0.6 0.7" for box in range(each))
        for block in range(10)
    ]
    text = "\n".join(f"{image},{blocks[number % len(blocks)]}" for number, (image, _) in enumerate(rows))
    return gzip.compress(f"ImageId,PredictionString\n{text}\n".encode(), 1)


def upload_large(service: Running, packed: bytes, number: int) -> None:
    """Upload the large file with a different time in the gzip header, so that no two files are identical."""
    different = packed[:4] + (number + 1).to_bytes(4, "little") + packed[8:]
    status, answer = service.upload(different, "predictions.csv.gz")
    assert status == 201, answer


def scored_within(service: Running, content: bytes) -> float:
    """Upload a file, and return the number of seconds until it is scored."""
    began = time.monotonic()
    identifier = service.submit(content)
    wait_for(lambda: service.column("status", identifier) == "scored", seconds=120, every=0.1)
    return time.monotonic() - began


@pytest.mark.drill(37)
def test_twenty_large_files_of_one_team_do_not_delay_the_small_files_of_others(
    opened: Open, medium: Path, figures: Figures
) -> None:
    service = opened(people=("many", *(f"other{number}" for number in range(OTHERS))), bundle=medium)
    content = (medium / "predictions.csv").read_bytes()
    small = b"\n".join(content.splitlines()[:30])
    packed = large_file(content)
    with ThreadPoolExecutor(OTHERS + 1) as pool:
        many = service.asked_by(0)
        sent = [pool.submit(upload_large, many, packed, number) for number in range(2)]
        wait_for(lambda: service.statuses()["running"], seconds=120)
        for number in range(2, LARGE_FILES):
            upload_large(many, packed, number)
        waiting = unfinished(service)
        others = [pool.submit(partial(scored_within, service.asked_by(1 + number), small)) for number in range(OTHERS)]
        seconds = sorted(one.result() for one in others)
        left = service.statuses()
    assert [one.result() for one in sent] == [None, None]
    ended = all_ended(service, seconds=900)
    figures(
        f"{OTHERS} small files: median {seconds[OTHERS // 2]:.1f} s, last {seconds[-1]:.1f} s, while {waiting} jobs "
        f"for {LARGE_FILES} files of {BOXES / 1e6:.0f}M boxes ({len(packed) >> 20} MiB) were unfinished; then "
        f"{left['queued']} large files waited; all ended {ended:.0f} s later: {counted(service)}"
    )
    assert seconds[-1] <= SOON_SECONDS
    assert waiting > 2
    assert counted(service).scored == LARGE_FILES + OTHERS
