"""Generates ground truth folders and submissions of chosen quality from a seed, for demos, tests and benchmarks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from evaluator import __version__
from evaluator.catalog import TRACKS, Track
from evaluator.synthesis import one_answer
from evaluator.synthesis.output_folder import OccupiedFolder, read_manifest, replaced_folder
from evaluator.synthesis.random_stream import RandomStream
from evaluator.synthesis.synthesizer import Scene, Synthesizer

__all__ = ["QUALITIES", "OccupiedFolder", "synthesize", "synthesizer_of"]

QUALITIES = (0.3, 0.6, 0.9)
IMAGES_PER_BLOCK = 2_000
"""Number of images that are generated together. Each block of images has its own random streams."""

# The first number of the key that seeds a random stream. Image ids, ground truth and submissions have different
# numbers, so that the ground truth does not depend on the submissions.
_IDS, _TRUTH, _SUBMISSION = range(3)


def synthesizer_of(track: Track) -> Synthesizer:
    """Return the synthesizer that a track declares, or a generic one that is derived from the track's columns."""
    if not track.modules.synthesizer:
        return one_answer.synthesizer(track)
    declared: Synthesizer = import_module(track.modules.synthesizer).SYNTHESIZER
    return declared


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
    """Write a ground truth folder and submissions. There is one submission per quality and file layout.

    The ground truth is written to ``out/truth``, and the submissions to ``out/submissions``.

    Parameters
    ----------
    track : str
        Name of the track.
    out : Path
        A new or empty folder, or the output folder of an earlier call, which is replaced.
    images : int
        Number of images.
    boxes_per_image : int
        Mean number of ground truth boxes (or pairs) per image. The maximum is twice this number.
    seed : int
        Seed of the ground truth. The ground truth does not depend on the parameters of the submissions.
    qualities : sequence of float
        Qualities of the submissions, from 0 to 1, with at most two decimals. The score increases with the quality.
    submission_seed : int
        Seed of the submissions.
    progress : callable, optional
        Called with the name of the current stage, such as ``drawing``, and its completed fraction.

    Returns
    -------
    dict
        The content of ``out/synthesis.json``.

    Raises
    ------
    OccupiedFolder
        If ``out`` contains files that were not synthesized.
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
    synthesizer = synthesizer_of(declared)
    with replaced_folder(out, manifest) as folder, ExitStack() as stack:
        files = _opened(stack, folder, synthesizer, track=declared, qualities=qualities)
        for first, scene in _scenes(synthesizer, images=images, boxes_per_image=boxes_per_image, seed=seed):
            for name, text in scene.truth().items():
                files[f"truth/{name}"].write(text)
            for quality in qualities:
                stream = RandomStream(_SUBMISSION, seed, submission_seed, _hundredths(quality), first)
                shapes = scene.predictions(stream, quality=quality)
                for name, text in zip(_names(declared, quality), shapes, strict=True):
                    files[name].write(text)
            if progress:
                progress("drawing", min(1.0, (first + IMAGES_PER_BLOCK) / images))
    return read_manifest(out)


def _scenes(synthesizer: Synthesizer, *, images: int, boxes_per_image: int, seed: int) -> Iterator[tuple[int, Scene]]:
    step = images if synthesizer.single_scene else IMAGES_PER_BLOCK
    for first in range(0, images, step):
        ids = RandomStream(_IDS, seed, 0, 0, first).identifiers(min(step, images - first))
        yield first, synthesizer.scene(RandomStream(_TRUTH, seed, 0, 0, first), np.sort(ids), boxes_per_image)


def _opened(
    stack: ExitStack, folder: Path, synthesizer: Synthesizer, *, track: Track, qualities: Sequence[float]
) -> dict[str, BinaryIO]:
    """Open all files of the output folder, write their headers, and return the open files by name.

    Files that do not depend on the images are written completely.
    """
    columns = {
        file.name: file.columns + file.extras * (file.name in synthesizer.with_optional_columns)
        for file in track.truth_files
    }
    headers = {name: ",".join(named) + "\n" if named else "" for name, named in columns.items()}
    starts = {f"truth/{name}": headers[name] for name in synthesizer.image_files}
    starts |= {f"truth/{name}": text for name, text in synthesizer.static_files.items()}
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
    """Return the file names of a submission, one for each file layout that the track accepts."""
    endings = ("", "-long")[: len(track.form.shapes)]
    return [f"submissions/quality-{quality:.2f}{ending}.{track.form.suffix}" for ending in endings]
