"""Generates data for tracks with one answer per image. The quality is the probability of a correct answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluator.catalog import Column, Track
from evaluator.synthesis.random_stream import MILLION, Ints, RandomStream
from evaluator.synthesis.synthesizer import Synthesizer
from evaluator.synthesis.text_columns import TextColumn, csv_lines, decimals, encoded

LABELS = 10
_LABELS = encoded([f"kind{number}" for number in range(LABELS)])


@dataclass(frozen=True, slots=True)
class AnswerScene:
    """Generated images with their correct answers.

    Attributes
    ----------
    ids : TextColumn
        Ids of the images.
    columns : tuple of Column
        The columns that contain an answer.
    answers : int64 array of shape (columns, images)
        The correct answers. An answer is the index of a label, or a number in millionths.
    file : str
        Name of the ground truth file that contains the answers.
    """

    ids: TextColumn
    columns: tuple[Column, ...]
    answers: Ints
    file: str

    def truth(self) -> Mapping[str, bytes]:
        """Return the CSV lines of two ground truth files: the answers and the images."""
        return {self.file: self._lines(self.answers), "images.csv": csv_lines(self.ids)}

    def predictions(self, stream: RandomStream, *, quality: float) -> tuple[bytes]:
        """Return an answer for each image. Some of the correct answers are replaced by random answers."""
        right = stream.bernoulli(quality, self.answers.size).reshape(self.answers.shape)
        return (self._lines(np.where(right, self.answers, _random_answers(stream, self.columns, len(self.ids)))),)

    def _lines(self, answers: Ints) -> bytes:
        cells = [
            decimals(values) if column.kind == "number" else _LABELS[values]
            for column, values in zip(self.columns, answers, strict=True)
        ]
        return csv_lines(self.ids, *cells)


def _random_answers(stream: RandomStream, columns: tuple[Column, ...], count: int) -> Ints:
    return np.stack([stream.integers(MILLION if column.kind == "number" else LABELS, count) for column in columns])


def _scene(
    columns: tuple[Column, ...], file: str, stream: RandomStream, ids: TextColumn, boxes_per_image: int
) -> AnswerScene:
    return AnswerScene(ids, columns, _random_answers(stream, columns, len(ids)), file)


def synthesizer(track: Track) -> Synthesizer:
    """Return an object that synthesizes data for a track that does not declare its own synthesizer."""
    file = track.truth[0].name
    return Synthesizer(image_files=(file, "images.csv"), scene=partial(_scene, track.form.predicted, file))
