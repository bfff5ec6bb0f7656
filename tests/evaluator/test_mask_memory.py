"""Masks that need more memory than is available cause a MemoryError, but do not crash the process."""

import base64
import os
import resource
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from pycocotools import mask as coco

from evaluator.request import ScoringRequest
from evaluator.scoring import load_kernels, score

TRACK = "openimages-segmentation"
WIDTH, HEIGHT, MASKS = 512, 384, 119
SCORED, OUT_OF_MEMORY = 0, 3
STEP = 3_500
BODIES = {
    "a run for each pixel": b"111" + b"0" * (WIDTH * HEIGHT - 3),
    "an empty run at the end": b"111" + b"0" * (WIDTH * HEIGHT - 5) + b"O1",
}


def packed(body: bytes, step: int) -> str:
    """Compress a mask and encode it as base64.

    The mask is compressed in pieces of ``step`` bytes, because masks with a very high compression ratio are rejected.
    """
    stream = zlib.compressobj(9)
    pieces = (
        stream.compress(body[at : at + step]) + stream.flush(zlib.Z_FULL_FLUSH) for at in range(0, len(body), step)
    )
    return base64.b64encode(b"".join(pieces) + stream.flush()).decode()


def challenge(folder: Path, body: bytes) -> tuple[Path, Path]:
    pixels = np.zeros((HEIGHT, WIDTH), np.uint8, order="F")
    pixels[10:300, 10:400] = 1
    box = f"{10 / WIDTH!r},{400 / WIDTH!r},{10 / HEIGHT!r},{300 / HEIGHT!r},0"
    mask = base64.b64encode(zlib.compress(coco.encode(pixels)["counts"])).decode()
    files = {
        "images.csv": ["ImageID,Width,Height", f"a,{WIDTH},{HEIGHT}"],
        "image_labels.csv": ["ImageID,LabelName,Confidence", "a,cat,1"],
        "boxes.csv": ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", f"a,cat,{box}"],
        "masks.csv": [
            "ImageID,LabelName,ImageWidth,ImageHeight,XMin,XMax,YMin,YMax,IsGroupOf,Mask",
            f"a,cat,{WIDTH},{HEIGHT},{box},{mask}",
        ],
    }
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    # The texts of the masks differ, because equal masks are stored only once.
    rows = [f"a,{WIDTH},{HEIGHT},cat,0.{place:03},{packed(body, STEP - place)}" for place in range(MASKS)]
    (folder / "found").write_text("\n".join(["ImageID,ImageWidth,ImageHeight,LabelName,Score,Mask", *rows]) + "\n")
    return folder, folder / "found"


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts private memory on Linux only")
@pytest.mark.parametrize("kind", BODIES)
def test_masks_of_many_runs_raise_a_memory_error_beyond_the_limit(kind: str, tmp_path: Path) -> None:
    """The file is scored in a separate process, because the multithreaded test process must not be forked."""
    truth, submission = challenge(tmp_path, BODIES[kind])
    words = [sys.executable, "-c", f"from {__name__} import main; main()", str(truth), str(submission)]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    codes = [int(code) for code in done.stdout.split()]
    assert set(codes) == {SCORED, OUT_OF_MEMORY}


def main() -> None:
    """Score a file with several memory limits, each time in a child process, and print the exit codes."""
    load_kernels()
    truth, submission = map(Path, sys.argv[1:])
    with submission.open() as rows:
        (truth / "one").write_text(rows.readline() + rows.readline())
    # Score one row first to import all modules, because Python raises SystemError if an import runs out of memory.
    score(ScoringRequest(TRACK, truth, truth / "one"))
    for mebibytes in range(5, 141, 8):
        child = os.fork()
        if not child:
            idle = int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGESIZE")
            resource.setrlimit(resource.RLIMIT_DATA, (idle + mebibytes * 2**20, -1))
            try:
                score(ScoringRequest(TRACK, truth, submission))
            except MemoryError:
                os._exit(OUT_OF_MEMORY)
            os._exit(SCORED)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
