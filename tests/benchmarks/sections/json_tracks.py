"""The rows of the section Json: the cost of scoring a file of a JSON track, compared with only parsing this file."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from evaluator.scoring import prepare
from tests.benchmarks.json_files import CAPTIONS, write_boxes, write_gallery, write_phrases, write_rankings
from tests.benchmarks.rows import FOLDER, ROOT, Goal, Row, alternating, ratio
from tests.benchmarks.scored_files import REFERENCE, scored

# The number of images of Flickr30k
IMAGES = 31_783
RETRIEVAL, GROUNDING = "flickr30k-retrieval", "flickr30k-grounding"
# Lengths of the lists. The longest list of each track makes the file almost as large as the limit on JSON files allows.
ANSWERS, BOXES = (10, 100), (10, 17)
ROUNDS = 3


def json_tracks() -> Iterator[Row]:
    """Measure scoring files of both tracks. The submissions are kept for later runs."""
    folder = FOLDER / "json"
    write_gallery(folder / RETRIEVAL, images=IMAGES)
    write_phrases(folder / GROUNDING, images=IMAGES)
    for track, write, lengths, title in (
        (
            RETRIEVAL,
            write_rankings,
            ANSWERS,
            f"{IMAGES:,} images and {IMAGES * CAPTIONS:,} captions, {{}} answers each",
        ),
        (GROUNDING, write_boxes, BOXES, f"{IMAGES:,} images and 490k phrases, {{}} boxes each"),
    ):
        truth = folder / f"{track}.podium"
        prepare(track, folder / track, truth)
        for length in lengths:
            file = folder / f"{track}-{length}.json"
            if not file.exists():
                write(file, images=IMAGES, length=length)
            goal = Goal(f"{track.removeprefix('flickr30k-')}, {title.format(length)}: CPU / CPU of `json.loads`", 3, 2)
            yield compared(goal, track, truth, file)


def compared(goal: Goal, track: str, truth: Path, file: Path) -> Row:
    score = partial(scored, track, truth, file, way=REFERENCE, times=1)
    ours, parsing = alternating(score, partial(parsed, file), rounds=ROUNDS)
    cpu, floor = [each["cpu"] for each in ours], [each["cpu"] for each in parsing]
    rss, least = (max(each["rss"] for each in runs) >> 20 for runs in (ours, parsing))
    behind = f"{median(cpu):.2f} s / {median(floor):.2f} s; peak RSS {rss:,} MiB / {least:,} MiB"
    return goal.met_by(ratio(cpu, floor), behind)


def parsed(file: Path) -> dict[str, Any]:
    """Parse a file in a new process. Return the CPU time in seconds (`cpu`) and the peak memory in bytes (`rss`)."""
    command = [sys.executable, "-m", "tests.benchmarks.measure_json", str(file), "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
