"""Made-up answers for tracks that have one an image: right as often as the quality says."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluator.catalog import Column, Track
from evaluator.synthesis.draws import MILLION, Ints, Stream
from evaluator.synthesis.rows import Text, decimals, lines, names
from evaluator.synthesis.scene import World

KINDS = 10
_LABELS = names([f"kind{number}" for number in range(KINDS)])


@dataclass(frozen=True, slots=True)
class AnswerScene:
    """Pictures with their answers.

    Attributes
    ----------
    ids : names of the pictures
    columns : what is asked
    answers : int array (columns, pictures), places of labels, or millionths
    file : the truth's file
    """

    ids: Text
    columns: tuple[Column, ...]
    answers: Ints
    file: str

    def truth(self) -> Mapping[str, bytes]:
        """Return lines of answers and images."""
        return {self.file: self._lines(self.answers), "images.csv": lines(self.ids)}

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes]:
        """Return the right answers, others where chance has it."""
        right = stream.happens(quality, self.answers.size).reshape(self.answers.shape)
        return (self._lines(np.where(right, self.answers, _drawn(stream, self.columns, len(self.ids)))),)

    def _lines(self, answers: Ints) -> bytes:
        cells = [
            decimals(values) if column.kind == "number" else _LABELS[values]
            for column, values in zip(self.columns, answers, strict=True)
        ]
        return lines(self.ids, *cells)


def _drawn(stream: Stream, columns: tuple[Column, ...], count: int) -> Ints:
    return np.stack([stream.below(MILLION if column.kind == "number" else KINDS, count) for column in columns])


def _scene(columns: tuple[Column, ...], file: str, stream: Stream, ids: Text, boxes_per_image: int) -> AnswerScene:
    return AnswerScene(ids, columns, _drawn(stream, columns, len(ids)), file)


def world(track: Track) -> World:
    """Return pictures for a track that declares nothing but columns."""
    file = track.truth[0].name
    return World(files=(file, "images.csv"), scene=partial(_scene, track.form.predicted, file))
