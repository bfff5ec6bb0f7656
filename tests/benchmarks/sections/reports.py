"""The rows of the section Reports: the cost of explaining a score, compared with scoring and with tidecv."""

from collections.abc import Iterator
from functools import partial
from statistics import median

from tests.benchmarks.coco_files import write_coco
from tests.benchmarks.peers import PeerFailed, cpu_of_peer
from tests.benchmarks.rows import FOLDER, GOLDEN, ROUNDS, Goal, Row, alternating, ratio
from tests.benchmarks.scored_files import DETECTION, Made, cpu_of_scoring, golden, made, scored

CASE = "det_e_open"
TIDECV = Goal(f"{CASE}: tidecv, boxes only / ours, score explained", 50, 200, least=True)
TIDECV_SECONDS = 1_800


def reports() -> Iterator[Row]:
    files = made()
    yield cost(files)
    yield memory(files)
    yield tidecv()


def cost(files: Made) -> Row:
    """Compare the CPU time for scoring a file and explaining the score with that for only scoring it."""
    alone = partial(cpu_of_scoring, DETECTION, files.truth, files.small)
    scoring, explaining = alternating(alone, partial(alone, explained=True))
    goal = Goal("explanation of 5M boxes: CPU / CPU of scoring", 4, 2.5)
    return goal.met_by(ratio(explaining, scoring), f"{median(explaining):.2f} s / {median(scoring):.2f} s")


def memory(files: Made) -> Row:
    found = [scored(DETECTION, files.truth, files.large, times=1, explained=True) for _ in range(ROUNDS)]
    rss, seconds = max(each["rss"] for each in found), median(each["cpu"] for each in found)
    goal = Goal("explanation of 20M boxes: peak RSS / file size", 1.2, 0.8)
    return goal.met_by(rss / files.large.stat().st_size, f"{rss >> 20:,} MiB, {seconds:.2f} s of CPU")


def tidecv() -> Row:
    """Compare the CPU time with that of tidecv, which reads and explains the same boxes, written as COCO JSON.

    tidecv takes minutes, so it runs once, between two measurements of Podium.
    """
    found = golden(CASE, DETECTION)
    if found is None:
        return TIDECV.not_run("../shared is missing")
    truth, file = found
    explaining = partial(cpu_of_scoring, DETECTION, truth, file, explained=True, times=7)
    folder = FOLDER / f"{CASE}-coco"
    folder.mkdir(exist_ok=True)
    coco = write_coco(GOLDEN / CASE / "truth" / "boxes.csv.gz", file, folder)
    try:
        before = explaining()
        theirs = cpu_of_peer("tidecv", "peer_tidecv.py", *coco, seconds=TIDECV_SECONDS)
    except PeerFailed as error:
        return TIDECV.not_run(str(error))
    ours = median([before, explaining()])
    return TIDECV.met_by(theirs / ours, f"{theirs:.1f} s / {ours:.3f} s of CPU")
