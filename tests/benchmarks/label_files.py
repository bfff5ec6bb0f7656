"""Writes data for image-level classification as large as a real challenge.

The classes are those of :mod:`tests.benchmarks.challenge`, without the hierarchy.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evaluator.synthesis.text_columns import csv_lines, decimals, encoded, prediction_strings
from tests.benchmarks.challenge import LABELS

IMAGES_PER_BLOCK = 10_000
CLASSES = len(LABELS)
HEADS = {
    "truth/image_labels.csv": "ImageID,LabelName,Confidence\n",
    "truth/images.csv": "ImageID\n",
    "truth/usage.csv": "ImageID,Usage\n",
    "kaggle.csv": "ImageId,PredictionString\n",
    "long.csv": "ImageID,LabelName,Score\n",
}


def blocks(images: int, per_image: int, verified: int, seed: int) -> Iterator[dict[str, bytes]]:
    """Yield, for each block of images, the lines of all ground truth files, and of the submission in two layouts."""
    cells, flags, usages = encoded(LABELS), encoded(["0", "1"]), encoded(["Public", "Private"])
    for first in range(0, images, IMAGES_PER_BLOCK):
        rng = np.random.default_rng([seed, first])
        count = min(IMAGES_PER_BLOCK, images - first)
        ids = encoded([f"{(first + place) * 184_467_440_737:016x}" for place in range(count)])
        image, place = np.divmod(np.arange(count * verified), verified)
        label = (rng.integers(0, CLASSES, count)[image] + place * (CLASSES // verified)) % CLASSES
        present = rng.random(len(image)) < 0.25
        guess, rank = np.divmod(np.arange(count * per_image), per_image)
        named = (rng.integers(0, CLASSES, count)[guess] + rank * (CLASSES // per_image)) % CLASSES
        shown = np.zeros((count, CLASSES), bool)
        shown[image[present], label[present]] = True
        sure = np.where(shown[guess, named], rng.beta(3, 1.5, len(guess)), rng.beta(1, 6, len(guess)))
        score = decimals((sure * 1_000_000).astype(np.int64))
        yield {
            "truth/image_labels.csv": csv_lines(ids[image], cells[label], flags[present * 1]),
            "truth/images.csv": csv_lines(ids),
            "truth/usage.csv": csv_lines(ids, usages[rng.integers(0, 2, count)]),
            "kaggle.csv": prediction_strings(ids, guess, cells[named], score),
            "long.csv": csv_lines(ids[guess], cells[named], score),
        }


def write(folder: Path, *, images: int, per_image: int, verified: int = 20, seed: int = 1) -> None:
    """Write a ground truth to ``folder/truth``, and a submission in two layouts: ``kaggle.csv`` and ``long.csv``.

    ``per_image`` and ``verified`` are the numbers of classes that are predicted and verified in each image. A quarter
    of the verified classes are present.
    """
    (folder / "truth").mkdir(parents=True, exist_ok=True)
    (folder / "truth" / "classes.csv").write_text("".join(f"{label},class {n}\n" for n, label in enumerate(LABELS)))
    files = {name: (folder / name).open("wb") for name in HEADS}
    for name, head in HEADS.items():
        files[name].write(head.encode())
    for texts in blocks(images, per_image, verified, seed):
        for name, text in texts.items():
            files[name].write(text)
    for file in files.values():
        file.close()
