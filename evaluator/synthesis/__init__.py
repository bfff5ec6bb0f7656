"""A seeded truth folder with submissions of chosen quality: for demos, tests and benchmarks, of any size."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from evaluator import __version__
from evaluator.catalog import TRACKS
from evaluator.synthesis import detection, relationships
from evaluator.synthesis.draws import Stream
from evaluator.synthesis.folder import OccupiedFolder, read_manifest, replacing
from evaluator.synthesis.scene import Scene, World

__all__ = ["QUALITIES", "WORLDS", "OccupiedFolder", "synthesize"]

WORLDS: dict[str, World] = {
    "openimages-detection": detection.WORLD,
    "openimages-relationships": relationships.WORLD,
}
QUALITIES = (0.3, 0.6, 0.9)
IMAGES_PER_BLOCK = 2_000
"""Pictures are made a block at a time, each with streams of its own: memory does not grow with their number."""

# First words of a stream's key. A truth's key names no submission, so no submission can change it.
_IDS, _TRUTH, _SUBMISSION = range(3)


def synthesize(
    track: str,
    out: Path,
    *,
    images: int = 1_000,
    boxes_per_image: int = 7,
    seed: int = 0,
    qualities: Sequence[float] = QUALITIES,
    submission_seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> dict[str, Any]:
    """Write ``out/truth`` and two shapes of a submission for each quality to ``out/submissions``.

    Parameters
    ----------
    track : name of the track
    out : new, empty, or an earlier synthesis, which is replaced as a whole
    images : number of pictures
    boxes_per_image : mean number of truth boxes (or pairs); a picture has up to twice as many
    seed : names the truth; the same number, the same bytes, whatever submissions go with it
    qualities : from 0 to 1, in hundredths; the score rises with it
    submission_seed : tells submissions of equal quality apart
    progress : called with the stage and the fraction done

    Returns
    -------
    dict
        What was made, as in ``out/synthesis.json``.

    Raises
    ------
    OccupiedFolder
        ``out`` holds files that were not synthesized.
    """
    manifest: dict[str, Any] = {
        "track": track,
        "images": images,
        "boxes_per_image": boxes_per_image,
        "seed": seed,
        "qualities": list(qualities),
        "submission_seed": submission_seed,
        "evaluator": __version__,
    }
    with replacing(out, manifest) as folder, ExitStack() as stack:
        files = _opened(stack, folder, track=track, qualities=qualities)
        for first, scene in _scenes(WORLDS[track], images=images, boxes_per_image=boxes_per_image, seed=seed):
            for name, text in scene.truth().items():
                files[f"truth/{name}"].write(text)
            for quality in qualities:
                stream = Stream(_SUBMISSION, seed, submission_seed, _hundredths(quality), first)
                strings, long = scene.predictions(stream, quality=quality)
                files[f"submissions/{_name(quality)}.csv"].write(strings)
                files[f"submissions/{_name(quality)}-long.csv"].write(long)
            if progress:
                progress("drawing", min(1.0, (first + IMAGES_PER_BLOCK) / images))
    return read_manifest(out)


def _scenes(world: World, *, images: int, boxes_per_image: int, seed: int) -> Iterator[tuple[int, Scene]]:
    for first in range(0, images, IMAGES_PER_BLOCK):
        ids = Stream(_IDS, seed, 0, 0, first).identifiers(min(IMAGES_PER_BLOCK, images - first))
        yield first, world.scene(Stream(_TRUTH, seed, 0, 0, first), np.sort(ids), boxes_per_image)


def _opened(stack: ExitStack, folder: Path, *, track: str, qualities: Sequence[float]) -> dict[str, BinaryIO]:
    """Open every file with its header; those that hold no pictures are complete with it."""
    starts = {f"truth/{name}": text for name, text in WORLDS[track].still.items()}
    for file in TRACKS[track].truth_files:
        if file.name in ("image_labels.csv", "images.csv") or file.required:
            starts[f"truth/{file.name}"] = ",".join(file.columns) + "\n"
    for quality in qualities:
        starts[f"submissions/{_name(quality)}.csv"] = ",".join(TRACKS[track].kaggle_header) + "\n"
        starts[f"submissions/{_name(quality)}-long.csv"] = ",".join(TRACKS[track].long_header) + "\n"
    files: dict[str, BinaryIO] = {}
    for name, start in starts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        files[name] = stack.enter_context((folder / name).open("wb"))
        files[name].write(start.encode())
    return files


def _hundredths(quality: float) -> int:
    return round(quality * 100)


def _name(quality: float) -> str:
    return f"quality-{quality:.2f}"
