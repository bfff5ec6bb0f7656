"""Measures the CPU time per MiB for each kind of hostile file in each track, compared with legal files.

`python -m tests.fuzz.costs [--track NAME] [--only WORDS]` prints the table, which is part of `make fuzz`.
"""

import gzip
import json
import multiprocessing
import random
import re
import resource
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from evaluator.catalog import TRACKS, Track
from evaluator.problems import InvalidSubmission
from evaluator.request import ScoringRequest
from evaluator.scoring import load_kernels, prepare, score
from evaluator.synthesis import synthesize
from tests.fuzz import crowded, hostile
from tests.fuzz.hostile import SIZE, Good, Maker

MAX_RATIO = 3.0  # Limit on the ratio of a file's CPU time per MiB to that of the slowest legal file.
REPETITIONS = 4  # Number of additional measurements for files near the limit, because measurements are noisy.
MAX_EXTRA_BYTES = 1 << 30  # Limit on the growth of peak memory while a file is being scored.
IMAGES = {"objectnet": 14_000, "openimages-segmentation": 700, "openimages-classification": 2_500}
USUAL_IMAGES = 1_000
FORK = multiprocessing.get_context("fork")
NUMBER = re.compile(rb"(?<=[ ,])[0-9]+\.[0-9]+(?=[ ,\n])")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a file: CPU seconds per MiB, growth of peak memory in bytes, and the result of scoring it."""

    name: str
    legal: bool
    seconds: float
    peak: int
    answer: str


def written(good: Good, rows: Iterable[bytes]) -> bytes:
    """Return a file with the header of the valid file and the given rows."""
    return b"\n".join([*([good.header] if good.header else []), *rows, b""])


def grown(good: Good, change: Callable[[bytes], bytes]) -> bytes:
    """Apply a change to each row of the valid file, and repeat the predictions until the file has about 1 MiB.

    Nothing is repeated if the file must have exactly one row per image.
    """
    rows = [change(row) for row in good.rows]
    times = -(-hostile.SIZE // sum(map(len, rows)))
    if good.strings:
        cells = (row.rpartition(b",") for row in rows)
        return written(good, (start + comma + b" ".join([string] * times) for start, comma, string in cells))
    return written(good, rows * (1 if good.form.one_each else times))


def negated(good: Good, line: bytes) -> bytes:
    """Return a row with negative confidences, which are valid but not supported by the fast path of relationships."""
    kinds = [column.name for column in (good.form.tokens if good.strings else good.form.columns)]
    index = next(index for index, name in enumerate(kinds) if name in ("Score", "Confidence", "Conf"))
    start, comma, text = line.rpartition(b",") if good.strings else (b"", b"", line)
    if not text:
        return line
    mark = b" " if good.strings else b","
    cells = text.split(mark)
    cells[index :: good.width] = [b"-" + cell for cell in cells[index :: good.width]]
    return start + comma + mark.join(cells)


def striped(good: Good, line: bytes) -> bytes:
    """Return a row with a mask that has as many runs as the image allows."""
    image, width, height, *rest = (cell.decode() for cell in line.split(b","))
    text = crowded.striped(int(width) * int(height))
    label = rest[0].partition(" ")[0]
    found = f"{label or good.label} 0.5 {text}" if good.strings else f"{label},0.5,{text}"
    return f"{image},{width},{height},{found}".encode()


def legal(good: Good) -> dict[str, Maker]:
    """Return functions, keyed by name, that change a valid file into another valid file.

    The first function returns the file unchanged.
    """
    found: dict[str, Maker] = {"as it is": lambda good: good.content, "gzipped in pieces of 2 KiB": pieces}
    if good.form.kind == "json":
        compact = lambda good: json.dumps(json.loads(good.content), separators=(",", ":")).encode()  # noqa: E731
        return found | {"compact": compact}
    found["CR only"] = lambda good: good.content.replace(b"\n", b"\r")
    found["quoted"] = quoted
    if not good.form.one_each:
        found["short numbers, CR only"] = lambda good: grown(good, partial(NUMBER.sub, b".5")).replace(b"\n", b"\r")
        found["negative confidences"] = lambda good: grown(good, partial(negated, good))
    if good.form.columns[-1].kind == "mask":
        found["masks of many runs"] = lambda good: grown(good, partial(striped, good))
    return found


def quoted(good: Good) -> bytes:
    """Return a valid submission with quotes around all cells."""
    lines = grown(good, bytes).rstrip()[len(good.header) :].lstrip()
    start = good.header + b"\n" if good.header else b""
    return start + b'"' + lines.replace(b",", b'","').replace(b"\n", b'"\n"') + b'"\n'


def pieces(good: Good) -> bytes:
    """Return a valid submission, compressed as a sequence of gzip members with up to 2 KiB of text each."""
    text = good.content
    return b"".join(gzip.compress(text[start : start + 2048], mtime=0) for start in range(0, len(text), 2048))


def shapes_of(good: Good) -> dict[str, Maker]:
    """Return functions, keyed by name, that change a valid file into a hostile file for the same track."""
    if good.form.kind == "json":
        return hostile.JSON
    return hostile.CSV | (hostile.MASKS if good.form.columns[-1].kind == "mask" else {})


def challenge(track: str, folder: Path) -> tuple[Path, list[Good]]:
    """Return a prepared ground truth and, for each file layout of the track, a valid submission."""
    made = synthesize(track, folder / track, images=IMAGES.get(track, USUAL_IMAGES), qualities=(0.6,))
    truth = folder / f"{track}.podium"
    prepare(track, folder / track / "truth", truth)
    names = [name for name in made["files"] if name.startswith("submissions/")]
    return truth, [good_of(TRACKS[track], (folder / track / name).read_bytes()) for name in names]


def challenges(track: str, folder: Path) -> Iterator[tuple[str, Path, Good]]:
    """Yield a title, a prepared ground truth and a valid submission for each cost table of a track.

    A cost table compares a valid submission with the hostile files derived from it. There is one table per file layout
    and, in one track, another table for crowded images.
    """
    truth, goods = challenge(track, folder)
    for good in goods:
        yield "strings" if good.strings else good.form.kind if not good.form.tokens else "long", truth, good
    if track == crowded.TRACK:
        crowded.write_truth(folder / "crowded")
        truth = folder / "crowded.podium"
        prepare(track, folder / "crowded", truth)
        yield "100 objects in an image of 1024x768", truth, good_of(TRACKS[track], crowded.good())


def good_of(track: Track, text: bytes) -> Good:
    """Return the valid submission ``text`` as a :class:`Good`, which contains its header and its rows separately."""
    form = track.form
    rows = text.rstrip(b"\n").split(b"\n") if form.kind != "json" else [text]
    header = rows.pop(0) if form.kind == "table" else b""
    return Good(form, header.endswith(b"PredictionString"), header, tuple(rows), random.Random(track.name))


def measured(track: str, truth: Path, path: Path) -> tuple[float, int, str]:
    """Score a file in a child process. Return the CPU seconds, the growth of peak memory, and the result."""
    receiver, sender = FORK.Pipe(duplex=False)
    child = FORK.Process(target=_scored, args=(track, truth, path, sender))
    child.start()
    sender.close()
    try:
        found: tuple[float, int, str] = receiver.recv()
    except EOFError:
        found = (float("inf"), 0, "died")
    child.join()
    return found


def _scored(track: str, truth: Path, path: Path, sender: Connection) -> None:
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()
    try:
        answer = score(ScoringRequest(track, truth, path)).way
    except InvalidSubmission as error:
        answer = ", ".join(f"{count} {code}" for code, count in error.findings.counts.items())
    seconds = process_time() - begun
    sender.send((seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, answer))


def size_of(content: bytes) -> int:
    """Return the size of a file in bytes: after decompression or as uploaded, whichever is larger."""
    if not content.startswith(b"\x1f\x8b"):
        return len(content)
    return max(len(content), len(gzip.decompress(content)))


def cost(name: str, content: bytes, *, track: str, truth: Path, is_legal: bool) -> Cost:
    path = truth.with_suffix(".submission")
    path.write_bytes(content)
    seconds, peak, answer = measured(track, truth, path)
    return Cost(name, is_legal, seconds / (max(size_of(content), SIZE) / SIZE), peak, answer)


def costs(track: str, truth: Path, good: Good, only: str = "") -> list[Cost]:
    """Score files of one track and layout, and return the cost of each.

    The valid file comes first, followed by other legal files and then by hostile files.
    """
    run = partial(cost, track=track, truth=truth)
    found = [run(name, maker(good), is_legal=True) for name, maker in legal(good).items()]
    slowest = max(each.seconds for each in found)
    for name, maker in shapes_of(good).items():
        if only in name:
            content = maker(good)
            one = run(name, content, is_legal=False)
            if one.seconds > MAX_RATIO / 2 * slowest:
                again = [run(name, content, is_legal=False) for _ in range(REPETITIONS)]
                one = min(again, key=lambda each: each.seconds)
            found.append(one)
    return found


def table(title: str, found: list[Cost]) -> tuple[str, list[str]]:
    """Return the cost table for one track and layout as text, and a message for each file that costs too much."""
    good, slowest = found[0].seconds, max(each.seconds for each in found if each.legal)
    lines = [f"{title}: CPU s/MiB, ratio to the good file, ratio to the slowest legal file, MiB of memory"]
    wrong = []
    for each in found:
        ratio = each.seconds / slowest
        kind = "legal: " if each.legal else ""
        numbers = f"{each.seconds:8.3f}{each.seconds / good:9.1f}{ratio:7.2f}{each.peak >> 20:7,}"
        lines.append(f"  {kind + each.name:<44}{numbers}  {each.answer[:60]}")
        if ratio > MAX_RATIO or each.peak > MAX_EXTRA_BYTES:
            wrong.append(f"{title}: {each.name}: {ratio:.1f} times the slowest legal file, {each.peak >> 20:,} MiB")
    return "\n".join(lines), wrong


def report(tracks: list[str], only: str = "") -> list[str]:
    """Print all cost tables, and return a message for each file that costs too much."""
    load_kernels()
    wrong = []
    with TemporaryDirectory(prefix="podium-costs-") as folder:
        for track in tracks:
            for shape, truth, good in challenges(track, Path(folder)):
                text, bad = table(f"{track}, {shape}", costs(track, truth, good, only))
                print(text, flush=True)
                wrong += bad
    print(*wrong, sep="\n")
    return wrong


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.fuzz.costs", description=__doc__)
    parser.add_argument("--track", action="append", choices=list(TRACKS), help="only this track; may be repeated")
    parser.add_argument("--only", default="", metavar="WORDS", help="only hostile files with these words in the name")
    words = parser.parse_args()
    return 1 if report(words.track or list(TRACKS), words.only) else 0


if __name__ == "__main__":
    sys.exit(main())
