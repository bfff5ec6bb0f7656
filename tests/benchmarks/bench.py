"""Runs the benchmarks of `make bench` and writes their results to the tables in BENCHMARKS.md.

A cost is the ratio of two measurements, usually durations, from the same run. `python -m tests.benchmarks.bench
SECTION…` runs only the given sections and leaves the others unchanged. Sections are `scoring`, `masks`, `ranks`,
`leaderboards` and `recording`.
"""

import gzip
import json
import os
import platform
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from statistics import median
from typing import Any

from evaluator.scoring import prepare
from tests.benchmarks.board_table import Row, leaderboards, recordings, row
from tests.benchmarks.challenge import write
from tests.benchmarks.mask_table import masks
from tests.benchmarks.private_facts import of_pairs, written
from tests.benchmarks.ranks import LARGE, coverages, seconds_of_a_large_board
from tests.evaluator.private_objects import CASES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "bench"
GOLDEN = ROOT.parent / "shared" / "golden"
DETECTION, RELATIONSHIPS = "openimages-detection", "openimages-relationships"
REFERENCE_PREDICTIONS = 300_000
# Number of rounds of a benchmark. In each round, the two programs to compare run one directly after the other, so that
# both face the same load of the machine.
ROUNDS = 5
# CPU time in seconds that `wc -l` took for a file with 5 million boxes, on the machine where the times in OFFICIAL were
# measured. The benchmark scales these times to the current machine by the time that `wc -l` takes now.
RECORDED_WC = 0.05
OFFICIAL = {"det_e_open": (DETECTION, 344.0, 2_000, 5_000), "vrd_c_open": (RELATIONSHIPS, 110.0, 200, 1_000)}
# Two implementations can score a file. The field `way` of the report with the scores begins with the name of the one
# that was used.
FAST_PATH, REFERENCE = "fast path", "reference implementation"


def cpu_of(*command: str, times: int) -> float:
    """Run a command several times, and return the lowest CPU time in seconds."""
    taken = []
    for _ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command} failed")
        taken.append(usage.ru_utime + usage.ru_stime)
    return min(taken)


def scored(
    track: str,
    truth: Path,
    file: Path,
    *,
    threads: int = 1,
    times: int = 3,
    replicates: int = 0,
    draws: Path | str = "",
    parameters: Mapping[str, Any] | None = None,
    way: str = FAST_PATH,
) -> dict[str, Any]:
    numbers = [str(threads), str(times), str(replicates), json.dumps(parameters or {})]
    words = ["-m", "tests.benchmarks.measure", track, str(truth), str(file), *numbers, str(draws)]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    if not found["way"].startswith(way):
        raise RuntimeError(f"{file} was scored in an unexpected way: {found['way']}")
    return found


def made() -> tuple[Path, Path, Path]:
    """Create the test data if it does not exist.

    Return a submission of 5M boxes, one of 20M boxes, and the prepared ground truth.
    """
    small, large, truth = FOLDER / "5M", FOLDER / "20M", FOLDER / "truth.podium"
    for folder, per_image in ((small, 50), (large, 200)):
        if not (folder / "made").exists():
            write(folder, images=99_999, per_image=per_image, long=per_image == 50)
            (folder / "made").touch()
    prepare(DETECTION, small / "truth", truth)
    (FOLDER / "empty.csv").write_text("ImageId,PredictionString\n")
    return small / "kaggle.csv", large / "kaggle.csv", truth


def wc_of(file: Path) -> float:
    """Return the CPU time of `wc -l` for a file, as a measure of the current speed of the machine."""
    return cpu_of("wc", "-l", str(file), times=3)


def ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of the quotients ``ones[i] / others[i]``. Both values are from the same round."""
    return median(one / other for one, other in zip(ones, others, strict=True))


def sizes(small: Path, large: Path, truth: Path) -> Iterator[Row]:
    wc, one, two, most = [], [], [], []
    for _ in range(ROUNDS):
        wc.append(wc_of(small))
        one.append(scored(DETECTION, truth, small))
        two.append(scored(DETECTION, truth, small, threads=2))
        most.append(scored(DETECTION, truth, large, times=2))
    cpu = [each["cpu"] for each in one]
    behind = f"{median(cpu):.2f} s / {median(wc):.3f} s"
    yield row("5M boxes: CPU / CPU of `wc -l`", 20, 10, ratio(cpu, wc), behind)
    walls = [each["wall"] for each in two]
    cores = ratio(walls, [each["wall"] for each in one])
    yield row("same, wall on two cores / on one", 0.65, 0.55, cores, f"{median(walls):.2f} s")
    rss, size = max(each["rss"] for each in most), large.stat().st_size
    yield row("20M boxes: peak RSS / file size", 0.65, 0.45, rss / size, f"{rss >> 20:,} MiB")
    larger = [each["cpu"] for each in most]
    yield row("growth: CPU(20M) / CPU(5M)", 4.4, 4.1, ratio(larger, cpu), f"{median(larger):.2f} s")


def goldens(small: Path) -> Iterator[Row]:
    for case, (track, official, reach, aim) in OFFICIAL.items():
        name = f"{case}: official, scaled by `wc -l` / ours, warm"
        if not (GOLDEN / case).exists():
            yield name, f">= {reach:,}", f">= {aim:,}", "NOT RUN", "../shared is missing"
            continue
        file, truth = FOLDER / f"{case}.csv", FOLDER / f"{case}.podium"
        with gzip.open(GOLDEN / case / "predictions.csv.gz") as packed, file.open("wb") as plain:
            copyfileobj(packed, plain)
        prepare(track, GOLDEN / case / "truth", truth)
        wc, ours = [], []
        for _ in range(ROUNDS):
            wc.append(wc_of(small))
            ours.append(scored(track, truth, file, times=7)["cpu"])
        behind = f"{official:.0f} s recorded, ours {median(ours):.3f} s"
        yield row(name, reach, aim, official / RECORDED_WC * ratio(wc, ours), behind, least=True)


def peer(small: Path, truth: Path) -> Row:
    """Compare the CPU time for scoring a file with that of hotcoco, a fast implementation of the COCO metrics.

    hotcoco is installed from PyPI into a separate environment. Because it rejects images without ground truth, such
    images are removed from the file for both programs.
    """
    name, place = "hotcoco, predictions loaded and scored / ours, same file", FOLDER / "hotcoco"
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
    installed = subprocess.run([python, "-m", "pip", "install", "-q", "hotcoco", "numpy"], capture_output=True)
    if installed.returncode:
        return name, ">= 15", ">= 30", "NOT RUN", "hotcoco cannot be installed"
    boxes, known = small.with_name("truth") / "boxes.csv", FOLDER / "known.csv"
    with boxes.open() as lines:
        images = {line.partition(",")[0] for line in lines}
    with small.with_name("long.csv").open() as lines, known.open("w") as kept:
        kept.writelines(line for line in lines if line.partition(",")[0] in images)
    words = [python, Path(__file__).with_name("peer.py"), boxes, small.with_name("truth") / "hierarchy.json", known]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    if done.returncode:
        return name, ">= 15", ">= 30", "NOT RUN", (done.stderr.strip().splitlines() or ["failed"])[-1][:80]
    theirs, ours = float(done.stdout.split()[-1]), scored(DETECTION, truth, known, times=2)["cpu"]
    return row(name, 15, 30, theirs / ours, f"{theirs:.1f} s / {ours:.2f} s of CPU", least=True)


def warm_worker(made: Path) -> Row:
    words = [sys.executable, "-m", "tests.benchmarks.service", str(made)]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    behind = f"{found['scoring'] * 1e3:.1f} ms / {found['nothing'] * 1e3:.1f} ms"
    return row("100 kB in a warm worker / a bare Celery round trip", 10, 4, found["scoring"] / found["nothing"], behind)


def bootstrap(small: Path, truth: Path) -> Row:
    """Measure the additional cost of 1,000 bootstrap replicates, whose weights are drawn once per ground truth."""
    wc, kept, anew, peak = [], [], [], 0
    for _ in range(ROUNDS):
        wc.append(wc_of(small))
        alone = scored(DETECTION, truth, small)["cpu"]
        with_draws = scored(DETECTION, truth, small, times=2, replicates=1_000, draws=FOLDER / "draws")
        kept.append(with_draws["cpu"] - alone)
        anew.append(scored(DETECTION, truth, small, times=1, replicates=1_000)["cpu"] - alone)
        peak = max(peak, with_draws["rss"])
    drawn = f"{median(kept):.2f} s with stored weights, {median(anew):.2f} s with weights drawn again"
    name = "1,000 bootstrap replicates on 5M boxes / `wc -l`"
    return row(name, 130, 60, ratio(kept, wc), f"{drawn}; peak RSS {peak >> 20:,} MiB")


def on_reference_path(folder: Path) -> dict[str, tuple[Callable[..., dict[str, Any]], Path, Path, Path]]:
    """Return test cases that are scored by the reference implementation, keyed by name.

    A test case consists of a function that scores a file, two ground truths that differ in one object, and the file.
    """
    found = {}
    for name, case in CASES.items():
        truths = [path.with_suffix(".podium") for path in case.truths(folder / name)]
        for prepared in truths:
            prepare(case.track, prepared.with_suffix(""), prepared, parameters=case.parameters)
        submission = case.submission(folder / name / "submission.csv", REFERENCE_PREDICTIONS)
        run = partial(scored, case.track, times=1, parameters=case.parameters, way=REFERENCE)
        found[f"{name}, reference path"] = run, *truths, submission
    return found


def private_facts() -> Iterator[Row]:
    """Score hostile files against pairs of ground truths that differ in a single annotation, which is secret.

    A large difference in cost would reveal the annotation. The table rows show the largest ratios of CPU time and of
    peak memory among all pairs.
    """
    folder = FOLDER / "facts"
    folder.mkdir(exist_ok=True)
    cpu, rss = {}, {}
    fast = {}
    for track, files in ((DETECTION, written(folder)), (RELATIONSHIPS, of_pairs(folder / "pairs"))):
        for name, paths in files.items():
            fast[name] = partial(scored, track), *paths
            kept = folder / "draws"
            fast[f"{name}, 1,000 replicates"] = partial(scored, track, times=2, replicates=1_000, draws=kept), *paths
    for fact, (run, one, other, file) in (fast | on_reference_path(folder / "reference")).items():
        rounds = [(run(one, file), run(other, file)) for _ in range(ROUNDS)]
        for found, name in ((cpu, "cpu"), (rss, "rss")):
            between = ratio([first[name] for first, _ in rounds], [second[name] for _, second in rounds])
            found[fact] = max(between, 1 / between)
    for found, name in ((cpu, "CPU"), (rss, "peak RSS")):
        fact = max(found, key=found.__getitem__)
        yield row(f"truths that differ in one private fact: {name}, larger / smaller", 1.05, 1.02, found[fact], fact)


def rank_intervals() -> Iterator[Row]:
    """Report how often rank intervals contain all true ranks, and the time to compute them for a large leaderboard."""
    for name, found in coverages().items():
        behind = f"± {found['covered'].error:.3f} of {found['covered'].boards:,} simulations; "
        behind += f"equal teams in each other's interval {found['together']}; tie groups split wrongly {found['split']}"
        yield row(f"rank intervals, {name}: share right", 0.935, 0.95, found["covered"].value, behind, least=True)
    cpu = seconds_of_a_large_board(ROUNDS)
    yield row(f"rank intervals of the top 100 of {LARGE:,}, 1,000 replicates: CPU s", 5, 3, cpu, "without reading them")


def scoring() -> Iterator[Row]:
    small, large, truth = made()
    yield from sizes(small, large, truth)
    yield from goldens(small)
    yield peer(small, truth)
    yield bootstrap(small, truth)
    yield from private_facts()
    command = [sys.executable, "-m", "evaluator", "score", DETECTION, "--truth", str(truth), "--submission"]
    start = cpu_of(*command, str(FOLDER / "empty.csv"), times=5)
    yield row("a new `podium score`, empty file, 100k-image truth: CPU s", 1.0, 0.5, start, "")
    yield warm_worker(small.parent)


SECTIONS: Mapping[str, Callable[[], Iterator[Row]]] = {
    "scoring": scoring,
    "masks": partial(masks, FOLDER),
    "ranks": rank_intervals,
    "leaderboards": partial(leaderboards, FOLDER),
    "recording": partial(recordings, FOLDER),
}


def processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def main(*chosen: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in chosen or SECTIONS:
        table = ["| measure | required | target | measured | computed from |", "|---|---|---|---|---|"]
        print(*table, sep="\n")
        for found in SECTIONS[name]():
            table.append("| " + " | ".join(found) + " |")
            print(table[-1], flush=True)
        day = datetime.now(UTC).date()
        machine = f"{processor()}, Python {platform.python_version()}, load average {os.getloadavg()[2]:.0f}"
        head = f"Measured on {day}: {machine}.\n\n"
        file = ROOT / "BENCHMARKS.md"
        file.write_text(with_section(file.read_text(), name, head + "\n".join(table)))


def with_section(text: str, name: str, content: str) -> str:
    """Return the content of BENCHMARKS.md with one section replaced or added."""
    head, *parts = text.rstrip().split("\n\n## ")
    kept = dict(part.split("\n\n", 1) for part in parts) | {name.capitalize(): content}
    order = [one for one in map(str.capitalize, SECTIONS) if one in kept]
    return "\n\n## ".join([head, *(f"{one}\n\n{kept[one]}" for one in order)]) + "\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
