"""A seeded truth folder with submissions of chosen quality: for demos, tests and benchmarks, of any size."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from evaluator import __version__
from evaluator.catalog import TRACKS, Track
from evaluator.synthesis import answers
from evaluator.synthesis.draws import Stream
from evaluator.synthesis.folder import OccupiedFolder, read_manifest, replacing
from evaluator.synthesis.scene import Scene, World

__all__ = ["QUALITIES", "OccupiedFolder", "synthesize", "world_of"]

QUALITIES = (0.3, 0.6, 0.9)
IMAGES_PER_BLOCK = 2_000
"""Pictures are made a block at a time, each with streams of its own: memory does not grow with their number."""

# First words of a stream's key. A truth's key names no submission, so no submission can change it.
_IDS, _TRUTH, _SUBMISSION = range(3)


def world_of(track: Track) -> World:
    """Return the pictures that a track declares, or what its columns suggest."""
    if not track.world:
        return answers.world(track)
    world: World = import_module(track.world).WORLD
    return world


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
    """Write ``out/truth`` and every shape of a submission for each quality to ``out/submissions``.

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
    declared = TRACKS[track]
    world = world_of(declared)
    with replacing(out, manifest) as folder, ExitStack() as stack:
        files = _opened(stack, folder, world, track=declared, qualities=qualities)
        for first, scene in _scenes(world, images=images, boxes_per_image=boxes_per_image, seed=seed):
            for name, text in scene.truth().items():
                files[f"truth/{name}"].write(text)
            for quality in qualities:
                stream = Stream(_SUBMISSION, seed, submission_seed, _hundredths(quality), first)
                shapes = scene.predictions(stream, quality=quality)
                for name, text in zip(_names(declared, quality), shapes, strict=True):
                    files[name].write(text)
            if progress:
                progress("drawing", min(1.0, (first + IMAGES_PER_BLOCK) / images))
    return read_manifest(out)


def _scenes(world: World, *, images: int, boxes_per_image: int, seed: int) -> Iterator[tuple[int, Scene]]:
    step = images if world.whole else IMAGES_PER_BLOCK
    for first in range(0, images, step):
        ids = Stream(_IDS, seed, 0, 0, first).identifiers(min(step, images - first))
        yield first, world.scene(Stream(_TRUTH, seed, 0, 0, first), np.sort(ids), boxes_per_image)


def _opened(
    stack: ExitStack, folder: Path, world: World, *, track: Track, qualities: Sequence[float]
) -> dict[str, BinaryIO]:
    """Open every file with its header; those that hold no pictures are complete with it."""
    columns = {file.name: file.columns + file.extras * (file.name in world.complete) for file in track.truth_files}
    headers = {name: ",".join(named) + "\n" if named else "" for name, named in columns.items()}
    starts = {f"truth/{name}": headers[name] for name in world.files}
    starts |= {f"truth/{name}": text for name, text in world.still.items()}
    for quality in qualities:
        for name, shape in zip(_names(track, quality), track.form.shapes, strict=True):
            starts[name] = f"{shape.header}\n" if shape.header else ""
    files: dict[str, BinaryIO] = {}
    for name, start in starts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        files[name] = stack.enter_context((folder / name).open("wb"))
        files[name].write(start.encode())
    return files


def _hundredths(quality: float) -> int:
    return round(quality * 100)


def _names(track: Track, quality: float) -> list[str]:
    """Return a submission's file names, one for each shape of the form."""
    endings = ("", "-long")[: len(track.form.shapes)]
    return [f"submissions/quality-{quality:.2f}{ending}.{track.form.suffix}" for ending in endings]
