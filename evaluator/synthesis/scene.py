"""What a track's file of this package offers: made-up pictures, their truth, and what a detector would say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluator.synthesis.draws import Stream
from evaluator.synthesis.rows import Text


class Scene(Protocol):
    """Some pictures and everything that is known about them."""

    def truth(self) -> Mapping[str, bytes]:
        """Return the lines that these pictures add to each truth file."""

    def predictions(self, stream: Stream, *, quality: float) -> Sequence[bytes]:
        """Return the lines of a submission, once for each shape of the track's form."""


@dataclass(frozen=True, slots=True)
class World:
    """One track's pictures.

    Attributes
    ----------
    files : names of the truth files that grow with the pictures; below the header where they have one
    scene : makes pictures from a stream, their ids, and the mean number of objects
    still : files of the truth that do not depend on the pictures
    complete : names of those that have their optional columns, too
    whole : whether all pictures are one scene, as JSON and rankings want it, and not made a block at a time
    """

    files: Sequence[str]
    scene: Callable[[Stream, Text, int], Scene]
    still: Mapping[str, str] = field(default_factory=dict)
    complete: Sequence[str] = ()
    whole: bool = False
