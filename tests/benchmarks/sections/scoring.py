"""The rows of the section Scoring: the cost of a score, compared with `wc -l`, official programs and hotcoco."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from tests.benchmarks.peers import PeerFailed, cpu_of_peer
from tests.benchmarks.rows import FOLDER, ROUNDS, Goal, Row, alternating, ratio
from tests.benchmarks.scored_files import (
    DETECTION,
    RELATIONSHIPS,
    Made,
    cpu_of,
    cpu_of_scoring,
    golden,
    made,
    scored,
    wc_of,
)

# CPU time in seconds that `wc -l` took for a file with 5 million boxes, on the machine where the times in OFFICIAL were
# measured. The benchmark scales these times to the current machine by the time that `wc -l` takes now.
RECORDED_WC = 0.05
# For each golden case (see `golden`): its track, the CPU time of the official program in seconds, and the required and
# target ratios of this time to the CPU time of Podium.
OFFICIAL = {"det_e_open": (DETECTION, 344.0, 4_500, 6_000), "vrd_c_open": (RELATIONSHIPS, 110.0, 1_000, 2_000)}
HOTCOCO = Goal("hotcoco, predictions loaded and scored / ours, same file", 22, 30, least=True)


def scoring() -> Iterator[Row]:
    files = made()
    yield from strings(files)
    yield long_form(files)
    yield from goldens(files)
    yield hotcoco(files)
    yield bootstrap(files)
    yield new_process(files)


def strings(files: Made) -> Iterator[Row]:
    wc = []
    small, small_on_one, small_on_two, large, large_on_two, fiftyone = [], [], [], [], [], []
    for _ in range(ROUNDS):
        wc.append(wc_of(files.small))
        small.append(scored(DETECTION, files.truth, files.small))
        fiftyone.append(scored(DETECTION, files.truth, files.small, parameters={"protocol": "fiftyone"})["cpu"])
        small_on_one.append(scored(DETECTION, files.truth, files.small, times=7))
        small_on_two.append(scored(DETECTION, files.truth, files.small, times=7, threads=2))
        large.append(scored(DETECTION, files.truth, files.large))
        large_on_two.append(scored(DETECTION, files.truth, files.large, threads=2))
    cpu, larger = [each["cpu"] for each in small], [each["cpu"] for each in large]
    behind = f"{median(cpu):.2f} s / {median(wc):.3f} s"
    yield Goal("5M boxes, strings: CPU / CPU of `wc -l`", 11, 9).met_by(ratio(cpu, wc), behind)
    for name, ones, twos in (("5M", small_on_one, small_on_two), ("20M", large, large_on_two)):
        wall, halved = [each["wall"] for each in ones], [each["wall"] for each in twos]
        goal = Goal(f"{name} boxes, strings: wall on two cores / on one", 0.56, 0.53)
        yield goal.met_by(ratio(halved, wall), f"{median(halved):.2f} s / {median(wall):.2f} s")
    rss, size = max(each["rss"] for each in large), files.large.stat().st_size
    yield Goal("20M boxes: peak RSS / file size", 0.65, 0.45).met_by(rss / size, f"{rss >> 20:,} MiB")
    yield Goal("growth: CPU(20M) / CPU(5M)", 4.4, 4.1).met_by(ratio(larger, cpu), f"{median(larger):.2f} s")
    behind = f"{median(fiftyone):.2f} s / {median(cpu):.2f} s"
    yield Goal("5M boxes, `protocol=fiftyone`: CPU / CPU of the default", 2, 1.3).met_by(ratio(fiftyone, cpu), behind)


def long_form(files: Made) -> Row:
    wc, ours = alternating(partial(wc_of, files.long), partial(cpu_of_scoring, DETECTION, files.truth, files.long))
    goal = Goal("5M boxes, long form: CPU / CPU of `wc -l` of this file", 11, 9)
    return goal.met_by(ratio(ours, wc), f"{median(ours):.2f} s / {median(wc):.3f} s")


def goldens(files: Made) -> Iterator[Row]:
    for case, (track, official, required, target) in OFFICIAL.items():
        goal = Goal(f"{case}: official, scaled by `wc -l` / ours, warm", required, target, least=True)
        found = golden(case, track)
        if found is None:
            yield goal.not_run("../shared is missing")
            continue
        wc, ours = alternating(partial(wc_of, files.small), partial(cpu_of_scoring, track, *found, times=7))
        behind = f"{official:.0f} s recorded, ours {median(ours):.3f} s"
        yield goal.met_by(official / RECORDED_WC * ratio(wc, ours), behind)


def hotcoco(files: Made) -> Row:
    """Compare the CPU time for scoring a file with that of hotcoco, a fast implementation of the COCO metrics.

    Because hotcoco rejects images without ground truth, such images are removed from the file for both programs.
    """
    boxes, known = files.long.with_name("truth") / "boxes.csv", FOLDER / "known.csv"
    with boxes.open() as lines:
        images = {line.partition(",")[0] for line in lines}
    with files.long.open() as lines, known.open("w") as kept:
        kept.writelines(line for line in lines if line.partition(",")[0] in images)
    arguments = boxes, boxes.with_name("hierarchy.json"), known
    try:
        theirs, ours = alternating(
            partial(cpu_of_peer, "hotcoco", "peer_hotcoco.py", *arguments, seconds=240),
            partial(cpu_of_scoring, DETECTION, files.truth, known),
        )
    except PeerFailed as error:
        return HOTCOCO.not_run(str(error))
    return HOTCOCO.met_by(ratio(theirs, ours), f"{median(theirs):.1f} s / {median(ours):.2f} s of CPU")


def bootstrap(files: Made) -> Row:
    """Measure the additional cost of 1,000 bootstrap replicates, whose weights are drawn once per ground truth."""
    wc, kept, anew, peak = [], [], [], 0
    for _ in range(ROUNDS):
        wc.append(wc_of(files.small))
        alone = cpu_of_scoring(DETECTION, files.truth, files.small)
        with_draws = scored(DETECTION, files.truth, files.small, times=2, replicates=1_000, draws=FOLDER / "draws")
        kept.append(with_draws["cpu"] - alone)
        anew.append(cpu_of_scoring(DETECTION, files.truth, files.small, times=1, replicates=1_000) - alone)
        peak = max(peak, with_draws["rss"])
    drawn = f"{median(kept):.2f} s with stored weights, {median(anew):.2f} s with weights drawn again"
    goal = Goal("1,000 bootstrap replicates on 5M boxes / `wc -l`", 45, 35)
    return goal.met_by(ratio(kept, wc), f"{drawn}; peak RSS {peak >> 20:,} MiB")


def new_process(files: Made) -> Row:
    empty: Path = FOLDER / "empty.csv"
    empty.write_text("ImageId,PredictionString\n")
    command = [sys.executable, "-m", "evaluator", "score", DETECTION, "--truth", str(files.truth), "--submission"]
    seconds = cpu_of(*command, str(empty), times=5)
    return Goal("a new `podium score`, empty file, 100k-image truth: CPU s", 1.0, 0.5).met_by(seconds, "")
