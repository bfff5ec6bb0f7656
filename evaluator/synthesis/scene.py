"""What a track's file of this package offers: made-up pictures, their truth, and what a detector would say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from evaluator.synthesis.draws import Stream
from evaluator.synthesis.rows import Text


class Scene(Protocol):
    """Some pictures and everything that is known about them."""

    def truth(self) -> Mapping[str, bytes]:
        """Return the lines that these pictures add to each truth file."""

    def predictions(self, stream: Stream, *, quality: float) -> tuple[bytes, bytes]:
        """Return the lines of a submission, as prediction strings and in the long shape."""


@dataclass(frozen=True, slots=True)
class World:
    """One track's pictures.

    Attributes
    ----------
    still : files of the truth that do not depend on the pictures
    scene : makes pictures from a stream, their ids, and the mean number of objects
    """

    still: Mapping[str, str]
    scene: Callable[[Stream, Text, int], Scene]
